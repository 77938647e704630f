import type { Logger } from "../ports/logger.js"
import type { Scheduler } from "../ports/scheduler.js"

export type EventClass<E extends object> = abstract new (...parameters: never[]) => E

export interface Subscription {
  /** No event comes after this. */
  cancel(): void
}

/**
 * What happens in the system, by class of event, for whoever wants to know.
 *
 * Events are handed out after the event loop has gone round, in the order of their publishing: a listener
 * never runs in the middle of the runtime's work, and one that causes further events starves nobody. A
 * listener that throws, or is async and rejects, is logged and stays.
 */
export class EventStream {
  readonly #scheduler: Scheduler
  readonly #logger: Logger
  readonly #listeners = new Map<EventClass<object>, Set<(event: never) => void>>()
  #waiting: object[] = []
  #scheduled = false

  constructor(scheduler: Scheduler, logger: Logger) {
    this.#scheduler = scheduler
    this.#logger = logger
  }

  /** Listens to events made by this very class. A ref is subscribed with `(event) => ref.tell(event)`. */
  subscribe<E extends object>(type: EventClass<E>, listener: (event: E) => void): Subscription {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners)
    const own = (event: E) => listener(event)
    listeners.add(own)
    return { cancel: () => this.#cancel(type, own) }
  }

  /** Whether anybody listens; asked before an event is made that is costly to make. */
  has<E extends object>(type: EventClass<E>): boolean {
    return this.#listeners.has(type)
  }

  publish(event: object): void {
    if (!this.#listeners.has(event.constructor as EventClass<object>)) return
    this.#waiting.push(event)
    if (this.#scheduled) return
    this.#scheduled = true
    this.#scheduler.yield(() => this.flush())
  }

  /** Hands out now what waits. */
  flush(): void {
    this.#scheduled = false
    const events = this.#waiting
    this.#waiting = []
    for (const event of events) {
      const listeners = this.#listeners.get(event.constructor as EventClass<object>)
      for (const listener of [...(listeners ?? [])]) {
        if (listeners?.has(listener) !== true) continue
        try {
          const given: unknown = listener(event as never)
          if (given instanceof Promise) given.catch((error: unknown) => this.#threw(event, error))
        } catch (error) {
          this.#threw(event, error)
        }
      }
    }
  }

  #threw(event: object, error: unknown): void {
    this.#logger.log("error", "a listener of the event stream threw", {
      event: event.constructor.name,
      error,
    })
  }

  #cancel(type: EventClass<object>, listener: (event: never) => void): void {
    const listeners = this.#listeners.get(type)
    listeners?.delete(listener)
    if (listeners?.size === 0) this.#listeners.delete(type)
  }
}

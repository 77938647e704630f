import type { Logger } from "../ports/logger.js"
import type { Scheduler } from "../ports/scheduler.js"

/** The class of an event. */
export type EventClass<E extends object> = abstract new (...parameters: never[]) => E

/** A subscription to events. */
export interface Subscription {
  /** Ends the subscription: the listener is not called afterwards. */
  cancel(): void
}

/**
 * Publishes the events of the system to listeners, by class of event.
 *
 * Events are delivered after a cycle of the event loop, in the order in which they were published: a listener
 * never runs in the middle of the runtime's work, and a listener that causes further events starves nothing.
 * If a listener throws, or is async and rejects, the error is logged and the listener stays subscribed.
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

  /** Subscribes to events of exactly this class. Subscribe a ref with `(event) => ref.tell(event)`. */
  subscribe<E extends object>(type: EventClass<E>, listener: (event: E) => void): Subscription {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners)
    const own = (event: E) => listener(event)
    listeners.add(own)
    return { cancel: () => this.#cancel(type, own) }
  }

  /** Says whether the class has listeners; checked before an event is created that is expensive to create. */
  has<E extends object>(type: EventClass<E>): boolean {
    return this.#listeners.has(type)
  }

  /** Publishes an event to the listeners of its class. */
  publish(event: object): void {
    if (!this.#listeners.has(event.constructor as EventClass<object>)) return
    this.#waiting.push(event)
    if (this.#scheduled) return
    this.#scheduled = true
    this.#scheduler.yield(() => this.flush())
  }

  /** Delivers the waiting events now. */
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
          if (given instanceof Promise) given.catch((error: unknown) => this.#logFailure(event, error))
        } catch (error) {
          this.#logFailure(event, error)
        }
      }
    }
  }

  #logFailure(event: object, error: unknown): void {
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

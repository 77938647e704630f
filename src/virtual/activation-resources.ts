import type { Logger } from "../ports/logger.js"
import type { ActivationHome } from "./activation-home.js"
import { ActivationTimers } from "./activation-timers.js"
import { ActivationWatches } from "./activation-watches.js"
import type { TaskOwner } from "./own-task.js"

/**
 * What few actors use beside calls and state: timers, watches, a log, an abort signal. Each is created on
 * first use, and this object with the first of them, so that an activation without any has only one field.
 */
export class ActivationResources {
  readonly #owner: ResourceOwner
  #timers: ActivationTimers | undefined = undefined
  #watches: ActivationWatches | undefined = undefined
  #log: Logger | undefined = undefined
  #abort: AbortController | undefined = undefined

  constructor(owner: ResourceOwner) {
    this.#owner = owner
  }

  get timers(): ActivationTimers {
    this.#timers ??= new ActivationTimers(this.#owner, this.#owner.home.clock)
    return this.#timers
  }

  get watches(): ActivationWatches {
    this.#watches ??= new ActivationWatches(this.#owner)
    return this.#watches
  }

  get log(): Logger {
    this.#log ??= this.#owner.home.environment.logger.with({ actor: this.#owner.key })
    return this.#log
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  /** Whether timers or watches are open. */
  get hasTasks(): boolean {
    return this.#timers?.isEmpty === false || this.#watches?.isEmpty === false
  }

  /** Ends the timers and watches. */
  endTasks(): void {
    this.#timers?.end()
    this.#watches?.end()
  }

  /** Aborts the signal, if the actor has asked for one. */
  abortSignal(reason: Error): void {
    this.#abort?.abort(reason)
  }
}

/** The activation that the resources belong to. */
interface ResourceOwner extends TaskOwner {
  readonly home: ActivationHome
}

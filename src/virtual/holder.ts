import type { ActorId } from "../address/actor-id.js"
import { CallError, OverloadedError } from "../errors/call-errors.js"
import type { ActorHost } from "./actor-host.js"
import { type Held, HOLD, LET_GO } from "./held-start.js"
import { callInternally } from "./internal-methods.js"

/** Holds actors of the cluster, so that nothing runs of them (`actor-hold.ts`). */
export class Holder {
  readonly #host: ActorHost
  readonly #token: string

  constructor(host: ActorHost) {
    this.#host = host
    this.#token = Buffer.from(host.environment.random.bytes(8)).toString("hex")
  }

  /**
   * Holds the actor from now on for `forMs`, or for longer if it is held. One that runs makes way first.
   * Rejects if no node can host it, as any call does; with an `OverloadedError` if others hold it all the
   * time.
   */
  async hold(id: ActorId, forMs: number): Promise<Held> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const given = await callInternally(this.#host, id, HOLD, [this.#token, forMs])
      if (Array.isArray(given)) return given as unknown as Held
      // The first answer was that the actor makes way, which takes as long as its turns.
      if (attempt > 0) await this.#pause()
    }
    throw new OverloadedError(id.toString(), 1, "holders")
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#host.clock.setTimer(PAUSE_MS, resolve)
    })
  }

  /** Lets the actor go. What is not heard ends by itself. */
  async letGo(id: ActorId, isDecided: boolean): Promise<void> {
    try {
      await callInternally(this.#host, id, LET_GO, [this.#token, isDecided])
    } catch (error) {
      if (!(error instanceof CallError)) throw error
    }
  }
}

const MOST_ATTEMPTS = 300
const PAUSE_MS = 100

import type { Subscription } from "../actor/event-stream.js"
import {
  MemberDowned,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  NodeFenced,
  UnreachableMember,
} from "../membership/member-events.js"
import type { ActorSystem } from "../system/actor-system.js"
import { History } from "./history.js"
import { SpanTrees } from "./span-trees.js"

/**
 * Takes a snapshot of the cluster every second while somebody looks, and one at once when a member comes or
 * goes. Nothing is done while nobody does: a minute after the last request the snapshots end, and the nodes
 * stop to watch themselves by their own clocks.
 */
export class Watcher {
  readonly history = new History()
  readonly trees = new SpanTrees()
  readonly #system: ActorSystem
  readonly #waiting = new Set<() => void>()
  #subscriptions: readonly Subscription[] = []
  #timer: NodeJS.Timeout | undefined
  #isAsking = false
  /** Whether something has happened since the last question was sent. */
  #isWantedAgain = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(system: ActorSystem) {
    this.#system = system
  }

  /** Somebody looks. Resolves once there is something newer than `after`, or after some seconds. */
  async look(after: number): Promise<void> {
    this.#lookedAt = Date.now()
    if (this.#isClosed) return
    if (this.#timer === undefined && !this.#isAsking) {
      this.#subscriptions = WANTED.map((type) =>
        this.#system.events.subscribe<object>(type, () => this.#soon()),
      )
      void this.#ask()
    }
    if (this.history.serial > after) return
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, WAIT_MS)
      this.#waiting.add(done)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#rest()
    for (const done of [...this.#waiting]) done()
  }

  #soon(): void {
    if (this.#isAsking) this.#isWantedAgain = true
    else this.#askIn(SOON_MS)
  }

  #askIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#ask(), ms)
    this.#timer.unref()
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    this.#isWantedAgain = false
    const since = Date.now()
    try {
      const snapshot = await this.#system.clusterSnapshot({
        watch: true,
        actors: MOST_ACTORS,
        timeoutMs: TIMEOUT_MS,
      })
      this.history.add(snapshot)
      this.trees.add(snapshot)
    } catch {
      // The system has stopped.
      return this.#rest()
    } finally {
      this.#isAsking = false
    }
    for (const done of [...this.#waiting]) done()
    if (this.#isClosed) return
    if (Date.now() - this.#lookedAt > LOOKED_AT_MS) return this.#rest()
    this.#askIn(this.#isWantedAgain ? SOON_MS : Math.max(SOON_MS, EVERY_MS - (Date.now() - since)))
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const subscription of this.#subscriptions) subscription.cancel()
    this.#subscriptions = []
  }
}

const WANTED = [MemberDowned, MemberLeft, MemberRemoved, MemberUp, NodeFenced, UnreachableMember]
const EVERY_MS = 1_000
/** Changes of members come in twos and threes. */
const SOON_MS = 50
const WAIT_MS = 10_000
const TIMEOUT_MS = 900
const LOOKED_AT_MS = 60_000
const MOST_ACTORS = 120

import type { NodeId } from "../address/node-id.js"
import type { Timer } from "../ports/clock.js"
import type { ActorHost } from "./actor-host.js"

/**
 * How many actors each node runs, as the nodes tell each other now and then.
 *
 * It is for strategies that look at it, so nodes that have none neither tell nor need it. What is told may be
 * late or lost: it only makes one placement worse than it could be.
 */
export class Loads {
  readonly #host: ActorHost
  /** Whether a type that this node hosts has a strategy that may look at loads. */
  readonly isNeeded: boolean
  readonly #known = new Map<string, number>()
  #timer: Timer | undefined
  #told: number | undefined
  #rounds = 0

  constructor(host: ActorHost) {
    this.#host = host
    this.isNeeded = [...host.types.values()].some(({ placement }) => placement !== undefined)
  }

  /** This node is a member from now on. */
  begin(): void {
    if (this.isNeeded) this.#tellLater()
  }

  of(node: NodeId): number | undefined {
    if (node.equals(this.#host.registry.node)) return this.#host.catalog.size
    return this.#known.get(node.toString())
  }

  /** What another node said of itself; from outside, so it may be anything. */
  heard(message: unknown): void {
    if (!Array.isArray(message) || message[0] !== LOAD) return
    const [, node, load] = message as readonly unknown[]
    if (typeof node === "string" && Number.isSafeInteger(load) && this.#host.registry.view.has(node)) {
      this.#known.set(node, load as number)
    }
  }

  forget(node: NodeId): void {
    this.#known.delete(node.toString())
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #tellLater(): void {
    this.#timer = this.#host.environment.clock.setTimer(TELL_EVERY_MS, () => {
      this.#tell()
      this.#tellLater()
    })
  }

  /** What has changed; and the same again now and then, for those who have come since. */
  #tell(): void {
    const load = this.#host.catalog.size
    this.#rounds += 1
    if (load === this.#told && this.#rounds % REPEAT_EVERY !== 0) return
    this.#told = load
    const { node: self, view } = this.#host.registry
    const message = [LOAD, self.toString(), load]
    for (const { node } of view.members) {
      if (!node.equals(self)) this.#host.options.gateOf(node)?.tell(message as never)
    }
  }
}

const LOAD = "load"
const TELL_EVERY_MS = 1_000
const REPEAT_EVERY = 5

import type { NodeId } from "../address/node-id.js"
import type { Timer } from "../ports/clock.js"
import type { ActorHost } from "./actor-host.js"

/**
 * The number of actors that each node runs, as the nodes report to each other periodically.
 *
 * The loads are for placement strategies; nodes without a type that has a strategy neither report nor use
 * them. A report may be late or lost: this can only make a placement less balanced.
 */
export class Loads {
  readonly #host: ActorHost
  /** Whether a type that this node hosts has a strategy, which may use loads. */
  readonly isNeeded: boolean
  readonly #known = new Map<string, number>()
  #timer: Timer | undefined
  #lastReport: number | undefined
  #rounds = 0

  constructor(host: ActorHost) {
    this.#host = host
    this.isNeeded = [...host.types.values()].some(({ placement }) => placement !== undefined)
  }

  /** Starts to report the load of this node, which is now a member. */
  start(): void {
    if (this.isNeeded) this.#reportLater()
  }

  of(node: NodeId): number | undefined {
    if (node.equals(this.#host.registry.node)) return this.#host.catalog.size
    return this.#known.get(node.toString())
  }

  /** Handles the report of another node, which is not trusted to be well-formed. */
  reported(message: unknown): void {
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

  #reportLater(): void {
    this.#timer = this.#host.environment.clock.setTimer(REPORT_EVERY_MS, () => {
      this.#report()
      this.#reportLater()
    })
  }

  /** Reports a changed load, and an unchanged one every few rounds for nodes that have joined since. */
  #report(): void {
    const load = this.#host.catalog.size
    this.#rounds += 1
    if (load === this.#lastReport && this.#rounds % REPEAT_EVERY !== 0) return
    this.#lastReport = load
    const { node: self, view } = this.#host.registry
    const message = [LOAD, self.toString(), load]
    for (const { node } of view.members) {
      if (!node.equals(self)) this.#host.options.gateOf(node)?.tell(message as never)
    }
  }
}

const LOAD = "load"
const REPORT_EVERY_MS = 1_000
const REPEAT_EVERY = 5

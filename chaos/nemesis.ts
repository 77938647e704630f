import { within } from "../tools/within.js"
import { STORE } from "./chaos-store.js"
import type { Fault, FaultKind } from "./fault.js"
import type { Rig, RigNode } from "./rig.js"
import type { Whereabouts } from "./whereabouts.js"

export interface NemesisTools {
  readonly rig: Rig
  readonly whereabouts: Whereabouts
  /** Resolves once a save of that node is on its way; or after a while. */
  untilASaveIsHeld(node: RigNode): Promise<void>
  wait(ms: number): Promise<void>
  /** Something that no fault explains. */
  broke(problem: string): void
}

/** Does what the schedule says. A fault is over when the node is well again. */
export class Nemesis {
  readonly #tools: NemesisTools
  readonly #done = new Map<FaultKind, number>()
  #skipped = 0

  constructor(tools: NemesisTools) {
    this.#tools = tools
  }

  /** How often each was done. */
  get done(): ReadonlyMap<FaultKind, number> {
    return this.#done
  }

  /** Faults whose node was not well enough for another one. */
  get skipped(): number {
    return this.#skipped
  }

  /** Resolves with whether it was done. */
  async inflict(fault: Fault): Promise<boolean> {
    if ("node" in fault) {
      const node = this.#tools.rig.nodes[fault.node] as RigNode
      if (node.state !== "up") {
        this.#skipped += 1
        return false
      }
      await this.#inflictOn(node, fault)
    } else {
      await this.#inflictElsewhere(fault)
    }
    this.#done.set(fault.kind, (this.#done.get(fault.kind) ?? 0) + 1)
    return true
  }

  async #inflictElsewhere(fault: Exclude<Fault, { node: number }>): Promise<void> {
    const { rig, wait } = this.#tools
    switch (fault.kind) {
      case "cut": {
        const [from, to] = [rig.nameOf(fault.from), rig.nameOf(fault.to)]
        return this.#cut(
          fault.bothWays
            ? [
                [from, to],
                [to, from],
              ]
            : [[from, to]],
          fault.ms,
        )
      }
      case "reset":
        return this.#reset(fault.from, fault.to)
      case "store-cut": {
        const name = rig.nameOf(fault.from)
        return this.#cut(waysOf(fault.way, [name, STORE], [STORE, name]), fault.ms)
      }
      case "store-reset":
        return rig.store.server?.reset(rig.nameOf(fault.from))
      case "store-pause":
        await rig.store.pause()
        await wait(fault.ms)
        return rig.store.resume()
      case "store-restart":
        await rig.store.server?.end(fault.how)
        await wait(fault.ms)
        return rig.store.server?.start()
    }
  }

  async #inflictOn(node: RigNode, { kind, ms }: Extract<Fault, { node: number }>): Promise<void> {
    const { whereabouts } = this.#tools
    switch (kind) {
      case "kill":
        whereabouts.gone(node.name, "killed")
        await node.kill()
        await this.#startAfter(node, ms)
        break
      case "stop":
        if (!(await node.stop(STOP_MS))) this.#tools.broke(`${node.name} did not stop within ${STOP_MS} ms`)
        await this.#startAfter(node, ms)
        break
      case "pause":
        await node.halt()
        await this.#tools.wait(ms)
        node.resume()
        break
      case "freeze":
        await this.#freeze(node, ms)
        break
      case "isolate":
        await this.#isolate(node, ms)
        break
      case "late-save":
        void node.call("hold", HOLD_MS)
        await this.#tools.untilASaveIsHeld(node)
        // For those of other actors.
        await this.#tools.wait(HOLD_MS / 2)
        await this.#freeze(node, ms)
        void node.call("hold", 0)
        break
    }
  }

  async #startAfter(node: RigNode, ms: number): Promise<void> {
    await this.#tools.wait(ms)
    await this.#tools.rig.startNode(node)
    this.#tools.whereabouts.returned(node.name)
  }

  async #freeze(node: RigNode, ms: number): Promise<void> {
    const { rig, whereabouts, wait } = this.#tools
    for (let left = FREEZES; left > 0; left -= 1) {
      await node.halt()
      if (await rig.store.mayFreeze()) break
      node.resume()
      await wait(2)
    }
    await node.halt()
    whereabouts.gone(node.name, "frozen")
    await wait(ms)
    node.resume()
    whereabouts.returned(node.name)
  }

  /** Cuts the node off from all others, and expects it back. */
  async #isolate({ name }: RigNode, ms: number): Promise<void> {
    const { rig, whereabouts, broke } = this.#tools
    const others = rig.names.filter((other) => other !== name)
    await this.#cut(
      others.flatMap((other): Way[] => [
        [name, other],
        [other, name],
      ]),
      ms,
    )
    const late = `${name} was cut off from all others, and has not come back within ${COME_BACK_MS} ms`
    await within(COME_BACK_MS, "it is back", whereabouts.untilItIsThere(name)).catch(() => broke(late))
  }

  async #cut(ways: readonly Way[], ms: number): Promise<void> {
    const { rig, wait } = this.#tools
    for (const [from, to] of ways) rig.cuts.cut(from, to)
    await wait(ms)
    for (const [from, to] of ways) rig.cuts.heal(from, to)
  }

  #reset(from: number, to: number): void {
    const { rig } = this.#tools
    rig.wiring.reset(rig.nameOf(from), rig.nameOf(to))
    rig.wiring.reset(rig.nameOf(to), rig.nameOf(from))
  }
}

/** Saves take this much longer before a node is frozen in the middle of them. */
const HOLD_MS = 500
/** Far longer than it gives its actors. */
const STOP_MS = 20_000
const FREEZES = 50
/** Longer than the other faults keep a node from joining. */
const COME_BACK_MS = 30_000

/** What one sends to the other. */
type Way = readonly [from: string, to: string]

function waysOf(which: "to" | "back" | "both", to: Way, back: Way): readonly Way[] {
  switch (which) {
    case "to":
      return [to]
    case "back":
      return [back]
    case "both":
      return [to, back]
  }
}

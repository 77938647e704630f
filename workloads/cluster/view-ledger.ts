import type { Stage } from "../../src/sim/index.js"

/**
 * What nodes see of each other: a member comes up once. A node that was seen leaving, down or gone never
 * comes back under the same id, whatever an older report says.
 */
export class ViewLedger {
  readonly #up = new Set<string>()

  constructor(stage: Stage) {
    stage.invariant<MemberCameUp>("a member comes up once", (event) => {
      if (event.kind !== "member-up") return false
      const { who, node } = event
      const one = `${who} > ${node}`
      if (this.#up.has(one)) return `${who} sees ${node} come up, and had seen it come up before`
      this.#up.add(one)
      return undefined
    })
  }
}

/** A system sees that a member is up. */
export interface MemberCameUp {
  readonly kind: "member-up"
  readonly who: string
  readonly node: string
}

import type { Stage } from "../../src/sim/index.js"

/** Recorded by a client that does what only a holder may do; each grant has a name of its own. */
export interface Act {
  readonly kind: "act"
  readonly grant: string
}

/** A grant is over, for good, once somebody has acted on another one. It needs no clock to be judged. */
export function oneHolderAtATime(stage: Stage): void {
  const over = new Set<string>()
  let latest: string | undefined
  stage.invariant<Act>("one holder at a time", ({ kind, grant }) => {
    if (kind !== "act") return false
    if (over.has(grant)) return `${grant} acts, although ${latest} has since`
    if (latest !== undefined && latest !== grant) over.add(latest)
    latest = grant
    return undefined
  })
}

import type { Terms } from "./terms.js"

/** A member at the time of a cut, as this table sees it. */
export interface Inhabitant {
  readonly machine: string
  readonly host: string
  /** Lower is older. */
  readonly age: number
}

/** Returns the side of a partition that each strategy's documentation promises to keep, if it keeps one. */
export function survivingSide(
  { strategy, quorum }: Pick<Terms, "strategy" | "quorum">,
  sides: readonly (readonly Inhabitant[])[],
): readonly Inhabitant[] | undefined {
  const all = sides.flat()
  switch (strategy) {
    case "majority": {
      const lowest = all.reduce((a, b) => (b.host < a.host ? b : a))
      return sides.find(
        (side) => side.length > all.length / 2 || (side.length === all.length / 2 && side.includes(lowest)),
      )
    }
    case "quorum":
      return sides.find((side) => side.length >= quorum)
    case "oldest":
    case "oldest-even-alone": {
      const oldest = all.reduce((a, b) => (b.age < a.age ? b : a))
      const home = sides.find((side) => side.includes(oldest))
      if (strategy === "oldest-even-alone" || home?.length !== 1 || all.length === 2) return home
      // The oldest is alone among several: the others survive if they are together.
      return sides.length === 2 ? sides.find((side) => side !== home) : undefined
    }
    case "all-down":
      return undefined
  }
}

import type { StateText } from "../explorer/model.js"
import type { World } from "./world.js"

/**
 * A world as text: the numbers of its parts. A step changes few parts of a world, so each distinct process,
 * request or entry is kept once, in a table. Worlds share their parts, as states are immutable.
 */
export function worldText(): StateText<World> {
  const numbers = new Map<string, number>()
  const parts: unknown[] = []
  const numberOf = (part: unknown): number => {
    const text = JSON.stringify(part)
    const known = numbers.get(text)
    if (known !== undefined) return known
    numbers.set(text, parts.length)
    parts.push(JSON.parse(text))
    return parts.length - 1
  }
  const numbersOf = (list: readonly unknown[]): string => list.map(numberOf).join(",")
  const partsOf = (text: string | undefined): unknown[] =>
    text === undefined || text === "" ? [] : text.split(",").map((number) => parts[Number(number)])
  return {
    write: ({ store, processes, requests, words, ...rest }) =>
      [store, processes, requests, words, [rest]].map(numbersOf).join(";"),
    read(text) {
      const [store, processes, requests, words, rest] = text.split(";").map(partsOf)
      return { ...(rest?.[0] as object), store, processes, requests, words } as World
    },
  }
}

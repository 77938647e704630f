import type { StateText } from "../explorer/model.js"

/**
 * A world as text: the numbers of its parts. A step changes few parts of a world, so each distinct process,
 * request or entry is kept once, in a table. Worlds share their parts, as states are immutable. `lists` are
 * the fields whose items are parts; all others are one part.
 */
export function worldText<World extends object>(lists: readonly (keyof World & string)[]): StateText<World> {
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
    write(world) {
      const rest: Partial<World> = { ...world }
      for (const name of lists) delete rest[name]
      return [...lists.map((name) => world[name] as readonly unknown[]), [rest]].map(numbersOf).join(";")
    },
    read(text) {
      const items = text.split(";").map(partsOf)
      const world: Record<string, unknown> = { ...(items[lists.length]?.[0] as object) }
      for (const [index, name] of lists.entries()) world[name] = items[index]
      return world as World
    },
  }
}

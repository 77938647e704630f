export interface Room {
  readonly name: string
  /** Imports go to a room of the same or a smaller depth. */
  readonly depth: number
  /** May use the clock, timers, randomness, sockets, threads, the file system, the process and the console. */
  readonly touchesTheWorld: boolean
  readonly typesOnly: boolean
  /** The packages that this room may import, besides what is in `src`. */
  readonly packages: readonly string[]
}

/** From the top to the bottom: a room may import from itself and from those above it. */
const order = [
  "errors",
  "ports",
  "address",
  "actor",
  "serialization",
  "remote",
  "membership",
  "registry",
  "placement",
  "virtual",
  "sharding",
  "system",
  "runtime",
  "stores",
  "sim/ambient",
  "sim",
  "cli",
]

export const worldly: readonly string[] = ["runtime", "stores", "sim/ambient", "cli"]

const typesOnly: readonly string[] = ["ports"]

const packages: Readonly<Record<string, readonly string[]>> = {
  // SQLite for a Node that has none of its own.
  stores: ["libsql"],
}

const rooms = new Map(order.map((name, depth) => [name, room(name, depth)]))

/** The files that stand in `src` itself: below every room. */
const entrance = room("the top level of src", order.length)

/** The room of a file under `src`, the innermost one; undefined where the folder is not one of the house. */
export function roomOf(path: string): Room | undefined {
  const [, folder = "", inner, ...rest] = path.split("/")
  if (inner === undefined) return entrance
  return (rest.length > 0 ? rooms.get(`${folder}/${inner}`) : undefined) ?? rooms.get(folder)
}

function room(name: string, depth: number): Room {
  return {
    name,
    depth,
    touchesTheWorld: worldly.includes(name),
    typesOnly: typesOnly.includes(name),
    packages: packages[name] ?? [],
  }
}

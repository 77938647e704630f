export interface Folder {
  readonly name: string
  /** A file may import from folders of the same or a smaller depth. */
  readonly depth: number
  /** Whether its files may use clocks, timers, randomness, sockets, threads, files, the process and the console. */
  readonly usesNode: boolean
  readonly typesOnly: boolean
  /** The packages that its files may import. */
  readonly packages: readonly string[]
}

/** From the top to the bottom: a folder may import from itself and from those above it. */
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
  "keeping",
  "system",
  "client",
  "gateway",
  "dashboard",
  "runtime",
  "stores",
  "sim/ambient",
  "sim",
  "cli",
]

export const nodeFolders: readonly string[] = [
  "client",
  "gateway",
  "dashboard",
  "runtime",
  "stores",
  "sim/ambient",
  "cli",
]

const typesOnly: readonly string[] = ["ports"]

const packages: Readonly<Record<string, readonly string[]>> = {
  // The fields of cron expressions.
  virtual: ["croner"],
  // WebSockets on Node's side.
  gateway: ["ws"],
  // SQLite for versions of Node that do not include it.
  stores: ["libsql"],
}

const folders = new Map(order.map((name, depth) => [name, folder(name, depth)]))

/** The files directly in `src`, which are below every folder. */
const topLevel = folder("the top level of src", order.length)

/** Returns the innermost known folder of a file under `src`, or undefined if there is none. */
export function folderOf(path: string): Folder | undefined {
  const [, outer = "", inner, ...rest] = path.split("/")
  if (inner === undefined) return topLevel
  return (rest.length > 0 ? folders.get(`${outer}/${inner}`) : undefined) ?? folders.get(outer)
}

function folder(name: string, depth: number): Folder {
  return {
    name,
    depth,
    usesNode: nodeFolders.includes(name),
    typesOnly: typesOnly.includes(name),
    packages: packages[name] ?? [],
  }
}

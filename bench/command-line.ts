import { type NotRun, parseCommand } from "../tools/command-line.js"

export type Command =
  | { readonly kind: "run"; readonly names: readonly string[]; readonly json: boolean }
  /** One row, in this very process. */
  | {
      readonly kind: "row"
      readonly name: string
      readonly json: boolean
      /** Where the row's peer is installed, if it has one. */
      readonly peersIn: string | undefined
    }
  | { readonly kind: "list"; readonly names: readonly string[] }
  | NotRun

export const help = `Measures every row beside its limit, each in a process of its own.

npm run bench -- [options]
  --only NAME,NAME  these rows, in the order of the list
  --peers           others on the same shapes too, downloaded from the npm registry into a folder that is removed afterwards:
                    the value is theirs, the limit is Troupe's, and a ratio below 1 means that Troupe is faster
  --json            one array of { name, value, unit, limit?, ratio?, p50Us?, p99Us? } and nothing else; a peer that could
                    not be measured is { name, unit, problem }
  --list            the names of the rows
  --row NAME        one row in this process, for a profiler: node --cpu-prof build/bench/main.js --row NAME
  --peers-in FOLDER where --row finds its peer, if it has one
  --help            this text

Exits with 0 when everything was measured, whether or not bars were missed and peers could be had; 1 when a row crashed; 2
if an option is wrong.
`

/** The names of all rows, in their order. */
export interface KnownRows {
  readonly own: readonly string[]
  readonly peers: readonly string[]
}

export function parseBench(args: readonly string[], known: KnownRows): Command {
  return parseCommand(args, options, ({ only, row, peers, list, json = false, "peers-in": peersIn }) => {
    const names = peers || row !== undefined ? [...known.own, ...known.peers] : known.own
    if (list) return { kind: "list", names }

    const wanted = row === undefined ? only?.split(",").map((name) => name.trim()) : [row]
    const unknown = wanted?.filter((name) => !names.includes(name)) ?? []
    if (unknown.length > 0) throw new RangeError(unknownRows(unknown, names, known))
    if (row === undefined)
      return { kind: "run", names: names.filter((name) => wanted?.includes(name) ?? true), json }
    if (known.peers.includes(row) && peersIn === undefined) {
      throw new RangeError(`"${row}" needs --peers-in, the folder that its peer is installed in`)
    }
    return { kind: "row", name: row, json, peersIn }
  })
}

function unknownRows(unknown: readonly string[], names: readonly string[], known: KnownRows): string {
  const rows = unknown.map((name) => `"${name}"`).join(", ")
  if (unknown.every((name) => known.peers.includes(name))) return `${rows} needs --peers`
  return `there is no row ${rows}; the rows are:\n  ${names.join("\n  ")}`
}

const options = {
  only: { type: "string" },
  peers: { type: "boolean" },
  "peers-in": { type: "string" },
  row: { type: "string" },
  json: { type: "boolean" },
  list: { type: "boolean" },
} as const

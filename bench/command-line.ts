import { parseArgs } from "node:util"

export type Command =
  | { readonly kind: "run"; readonly names: readonly string[]; readonly json: boolean }
  /** One row, in this very process. */
  | { readonly kind: "row"; readonly name: string; readonly json: boolean }
  | { readonly kind: "list" }
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string }

export const help = `Measures every row beside its limit, each in a process of its own.

npm run bench -- [options]
  --only NAME,NAME  these rows, in the order of the list
  --json            one array of { name, value, unit, limit?, ratio?, p50Us?, p99Us? } and nothing else
  --list            the names of the rows
  --row NAME        one row in this process, for a profiler: node --cpu-prof build/bench/main.js --row NAME
  --help            this text

Exits with 0 when everything was measured, bars missed or not; 1 when a row crashed; 2 when it was asked wrongly.
`

/** `known` are the names of all rows, in their order. */
export function parseCommand(args: readonly string[], known: readonly string[]): Command {
  const options = read(args)
  if (typeof options === "string") return { kind: "wrong", problem: options }
  const { only, row, json = false } = options
  if (options.help) return { kind: "help" }
  if (options.list) return { kind: "list" }

  const wanted = row === undefined ? only?.split(",").map((name) => name.trim()) : [row]
  const unknown = wanted?.filter((name) => !known.includes(name)) ?? []
  if (unknown.length > 0) {
    const rows = unknown.map((name) => `"${name}"`).join(", ")
    return { kind: "wrong", problem: `there is no row ${rows}; the rows are:\n  ${known.join("\n  ")}` }
  }
  if (row !== undefined) return { kind: "row", name: row, json }
  return { kind: "run", names: known.filter((name) => wanted?.includes(name) ?? true), json }
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: "string" },
        row: { type: "string" },
        json: { type: "boolean" },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

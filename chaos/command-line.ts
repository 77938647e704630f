import { knownName, maxSeed, type NotRun, parseCommand, wholeNumber } from "../tools/command-line.js"
import { type StoreKind, storeKinds } from "../tools/store-options.js"
import { type FaultKind, faultKinds, faultKindsOfFile, faultKindsOfNamespaces } from "./fault.js"

export type ChaosCommand = ({ readonly kind: "run" } & ChaosOptions) | NotRun

export interface ChaosOptions {
  readonly store: StoreKind
  readonly durationMs: number
  readonly seed: number
  readonly nodes: number
  readonly faults: readonly FaultKind[]
  /** Whether saves are made without their conditions: a mistake that has to be found. */
  readonly unfenced: boolean
  /** Whether saves lose what is stored beside the state: another one. */
  readonly forgetful: boolean
  /** Whether each node, and the store, is in a network namespace of its own. */
  readonly namespaces: boolean
}

export const help = `Runs a cluster of real processes, does to them what can go wrong, and checks what its clients saw.

npm run chaos -- --store S [options]
  --store S       what the nodes agree by: ${storeKinds.join(", ")}
  --minutes M     duration, such as 0.25; default 1
  --seed S        chooses the faults and their times; default random
  --nodes N       number of processes; default 4
  --faults A,B    only these: ${faultKinds.join(", ")}
  --unfenced      saves are made without their conditions, so that there is something to be found; the default of
                  --faults is late-save then
  --forgetful     saves lose the names of operations, messages and reminders, so that there is something to be found
  --namespaces    each node, and the server of the store, has a network namespace of its own, and packets between
                  them are dropped; needs Linux, root and --store postgres; the default of --nodes is 2 then
  --help          this text

Exits with 0 when all held; 1 when something did not, or too little was done; 2 if an option is wrong; 130 after Ctrl-C.
`

/** `drawn` is the seed of a command that gives none. */
export function parseChaos(args: readonly string[], drawn: number): ChaosCommand {
  return parseCommand(args, options, (given) => {
    const { minutes = "1", faults, unfenced = false, forgetful = false } = given
    if (given.store === undefined)
      throw new RangeError(`which store? the stores are:\n  ${storeKinds.join("\n  ")}`)
    const store = knownName("store", given.store, storeKinds)
    const { namespaces = false } = given
    if (namespaces && store !== "postgres")
      throw new RangeError("--namespaces must be used with --store postgres")
    const known = store === "sqlite" ? faultKindsOfFile : namespaces ? faultKindsOfNamespaces : faultKinds
    const chosen = faults?.split(",").map((fault) => knownName("fault", fault, known))
    return {
      kind: "run",
      store,
      durationMs: minuteCount(minutes) * 60_000,
      seed: wholeNumber(given, "seed", [0, maxSeed], drawn >>> 0),
      nodes: wholeNumber(given, "nodes", [2, 16], namespaces ? 2 : 4),
      faults: chosen ?? (unfenced ? ["late-save"] : known),
      unfenced,
      forgetful,
      namespaces,
    }
  })
}

const text = { type: "string" } as const
const options = {
  store: text,
  minutes: text,
  seed: text,
  nodes: text,
  faults: text,
  unfenced: { type: "boolean" },
  forgetful: { type: "boolean" },
  namespaces: { type: "boolean" },
} as const

function minuteCount(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0.05 && value <= 1_440) return value
  throw new RangeError(`--minutes must be a number from 0.05 to 1440 (got "${text}")`)
}

import { knownName, maxSeed, type NotRun, parseCommand, wholeNumber } from "../tools/command-line.js"
import { type StoreKind, storeKinds } from "../tools/store-options.js"

export type DemoCommand = ({ readonly kind: "run" } & DemoOptions) | NotRun

export interface DemoOptions {
  readonly store: StoreKind
  /** Undefined: until it is interrupted. */
  readonly seconds: number | undefined
  readonly nodes: number
  readonly accounts: number
  readonly tellers: number
  /** Chooses the accounts of each transfer and the nodes to kill. */
  readonly seed: number
  /** Whether other nodes learn from the kernel that a process has died, before its lease expires. */
  readonly deathProof: boolean
}

export const help = `Moves money between accounts on a few nodes, kills the nodes in turn, and counts
the money.

npm start -- [options]
  --store S     what the nodes agree by: ${storeKinds.join(", ")};
                default sqlite. A server is fetched at its first use
  --seconds N   how long it runs; default until Ctrl-C
  --nodes N     number of processes; default 3
  --accounts N  number of accounts; default 60
  --tellers N   number of concurrent transfers; default 16
  --seed S      chooses who pays whom and which node is killed; default random
  --no-proof    nobody reports the death of a process: its lease has to expire
  --help        prints this text

Keys, in a terminal: k kills a node, p pauses one until its actors have moved,
a audits all accounts, and q ends the demo, as Ctrl-C does. With NO_COLOR=1 it
has no colours.

Exits with 0 if every account is right, 1 if not, 2 if an option is wrong.
`

/** `drawn` is the seed of a command that gives none. */
export function parseDemo(args: readonly string[], drawn: number): DemoCommand {
  return parseCommand(args, options, (given) => ({
    kind: "run",
    store: knownName("store", given.store ?? "sqlite", storeKinds),
    seconds: wholeNumber(given, "seconds", [1, 86_400], undefined),
    nodes: wholeNumber(given, "nodes", [2, 16], 3),
    accounts: wholeNumber(given, "accounts", [2, 10_000], 60),
    tellers: wholeNumber(given, "tellers", [1, 256], 16),
    seed: wholeNumber(given, "seed", [0, maxSeed], drawn >>> 0),
    deathProof: given["no-proof"] !== true,
  }))
}

const text = { type: "string" } as const
const options = {
  store: text,
  seconds: text,
  nodes: text,
  accounts: text,
  tellers: text,
  seed: text,
  "no-proof": { type: "boolean" },
} as const

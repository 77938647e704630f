import {
  type Given,
  maxSeed,
  type NotRun,
  parseCommand,
  readOptions,
  wholeNumber,
} from "../../tools/command-line.js"

/** Where a workload is found: among those for everybody, or those that try the command itself. */
export interface Chosen {
  readonly workload: string
  readonly testing: boolean
  /** The bug to plant, by its name. */
  readonly plant: string | undefined
}

export interface ManySeeds extends Chosen {
  readonly kind: "run"
  readonly seeds: number
  readonly from: number
  readonly jobs: number
  readonly stallMs: number
}

export interface OneSeed extends Chosen {
  readonly kind: "seed"
  readonly seed: number
  readonly trace: boolean
}

export type Command =
  | ManySeeds
  /** One seed, in this very process. */
  | OneSeed
  /** What `run` starts: takes seeds from the process that started it. */
  | ({ readonly kind: "serve" } & Chosen)
  | { readonly kind: "list"; readonly testing: boolean }
  | { readonly kind: "list plantings" }
  | NotRun

export interface Surroundings {
  readonly cores: number
  /** The names of the workloads, in their order. */
  readonly known: (testing: boolean) => readonly string[]
  /** The names of the bugs that can be planted. */
  readonly plantings: readonly string[]
}

export const help = `Runs a workload in simulated worlds, one for each seed, and says what came of it.

npm run sim -- --workload NAME [options]
  --workload NAME    what to run; "list" names them all
  --seeds N          number of seeds; default 100
  --from S           the first seed; default 1
  --jobs J           number of processes; default one for each core
  --stall-seconds T  a seed without progress for so long is ended and counts as failed; default 60
  --plant BUG        with this bug planted in the code that is run; "list" names them all
  --help             this text

npm run sim -- --workload NAME --seed S [--trace] [--plant BUG]
  --seed S           this seed, in this process, so that a debugger can look at it; Ctrl-C ends it
  --trace            prints every event as it happens

Exits with 0 when all held; 1 when a seed failed or the run proved too little; 2 if an option is wrong; 130 after
Ctrl-C.
`

const maxJobs = 256
const maxStallSeconds = 86_400

export function parseSim(args: readonly string[], surroundings: Surroundings): Command {
  return parseCommand(args, optionSet, (options) => understood(options, surroundings))
}

/**
 * The bug that a command asks for, right or wrong otherwise: it is planted before the rest can be looked at.
 */
export function plantAsked(args: readonly string[]): string | undefined {
  try {
    return readOptions(args, optionSet).plant
  } catch {
    return undefined
  }
}

function understood(options: Options, { cores, known, plantings }: Surroundings): Command {
  const { workload, plant, testing = false, trace = false } = options
  if (plant === "list") return { kind: "list plantings" }
  if (workload === "list" || Object.keys(options).every((name) => name === "testing")) {
    return { kind: "list", testing }
  }
  const names = known(testing)
  if (workload === undefined || !names.includes(workload)) {
    const problem = workload === undefined ? "which workload?" : `there is no workload "${workload}";`
    throw new Error(`${problem} the workloads are:\n  ${names.join("\n  ")}`)
  }
  if (plant !== undefined && !plantings.includes(plant)) {
    throw new Error(`there is no bug "${plant}" to plant; the bugs are ${plantings.join(", ")}`)
  }
  const chosen: Chosen = { workload, testing, plant }
  if (options.serve) return { kind: "serve", ...chosen }
  if (options.seed !== undefined) {
    refuseBeside("--seed, which runs one seed in this process", options, forMany)
    return { kind: "seed", ...chosen, seed: wholeNumber(options, "seed", [0, maxSeed], 0), trace }
  }
  if (trace) throw new Error("--trace goes with --seed: it prints what happens in one seed")

  const from = wholeNumber(options, "from", [0, maxSeed], 1)
  const most = maxSeed - from + 1
  const seeds = wholeNumber(options, "seeds", [1, most], Math.min(100, most))
  const jobs = Math.min(wholeNumber(options, "jobs", [1, maxJobs], cores), seeds)
  const stallMs = wholeNumber(options, "stall-seconds", [1, maxStallSeconds], 60) * 1000
  return { kind: "run", ...chosen, seeds, from, jobs, stallMs }
}

const forMany = ["seeds", "from", "jobs", "stall-seconds"] as const

const optionSet = {
  workload: { type: "string" },
  seeds: { type: "string" },
  from: { type: "string" },
  jobs: { type: "string" },
  "stall-seconds": { type: "string" },
  seed: { type: "string" },
  plant: { type: "string" },
  trace: { type: "boolean" },
  testing: { type: "boolean" },
  serve: { type: "boolean" },
} as const

type Options = Given<typeof optionSet>

function refuseBeside(what: string, options: Options, names: typeof forMany): void {
  const given = names.filter((name) => options[name] !== undefined)
  if (given.length > 0) throw new Error(`--${given.join(", --")} cannot go with ${what}`)
}

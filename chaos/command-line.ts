import { parseArgs } from "node:util"
import { type FaultKind, faultKinds } from "./fault.js"

export type Command =
  | ({ readonly kind: "run" } & ChaosOptions)
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string }

export interface ChaosOptions {
  readonly durationMs: number
  readonly seed: number
  readonly nodes: number
  readonly faults: readonly FaultKind[]
  /** Whether saves are made without their conditions: a mistake that has to be found. */
  readonly unfenced: boolean
}

export const help = `Runs a cluster of real processes, does to them what can go wrong, and checks what its clients saw.

npm run chaos -- --store sqlite [options]
  --store sqlite  what the nodes agree by
  --minutes M     how long; 1 unless set, 0.25 is allowed
  --seed S        which faults happen when; drawn unless set
  --nodes N       how many processes; 4 unless set
  --faults A,B    only these: ${faultKinds.join(", ")}
  --unfenced      saves are made without their conditions, so that there is something to be found; late-save alone unless
                  other faults are set
  --help          this text

Exits with 0 when all held; 1 when something did not, or too little was done; 2 when it was asked wrongly; 130 after Ctrl-C.
`

const stores = ["sqlite"]

/** `drawn` is the seed for a command that says none. */
export function parseCommand(args: readonly string[], drawn: number): Command {
  try {
    return understood(args, drawn)
  } catch (error) {
    return { kind: "wrong", problem: (error as Error).message }
  }
}

function understood(args: readonly string[], drawn: number): Command {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string" },
      minutes: { type: "string" },
      seed: { type: "string" },
      nodes: { type: "string" },
      faults: { type: "string" },
      unfenced: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  })
  if (values.help) return { kind: "help" }
  if (!stores.includes(values.store ?? "")) {
    const problem =
      values.store === undefined ? "which store?" : `there is no store "${values.store}" to try;`
    throw new Error(`${problem} the stores are:\n  ${stores.join("\n  ")}`)
  }
  return {
    kind: "run",
    durationMs: minutes(values.minutes ?? "1") * 60_000,
    seed: values.seed === undefined ? drawn >>> 0 : whole("seed", values.seed, 0, 2 ** 32 - 1),
    nodes: whole("nodes", values.nodes ?? "4", 2, 16),
    faults: values.faults?.split(",").map(faultKind) ?? (values.unfenced ? ["late-save"] : faultKinds),
    unfenced: values.unfenced ?? false,
  }
}

function faultKind(text: string): FaultKind {
  const kind = faultKinds.find((known) => known === text)
  if (kind !== undefined) return kind
  throw new Error(`there is no fault "${text}"; the faults are:\n  ${faultKinds.join("\n  ")}`)
}

function minutes(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (value >= 0.05 && value <= 1_440) return value
  throw new Error(`--minutes must be a number from 0.05 to 1440, not "${text}"`)
}

function whole(name: string, text: string, from: number, to: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new Error(`--${name} must be a whole number from ${from} to ${to}, not "${text}"`)
}

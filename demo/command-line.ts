import { parseArgs } from "node:util"

export type Command =
  | ({ readonly kind: "run" } & DemoOptions)
  | { readonly kind: "help" }
  | { readonly kind: "wrong"; readonly problem: string }

export interface DemoOptions {
  /** Until it is interrupted, if undefined. */
  readonly seconds: number | undefined
  readonly nodes: number
  readonly accounts: number
  readonly tellers: number
  /** Whom the money goes to, and who is killed. */
  readonly seed: number
  /** Whether the kernel may tell that a process has died. */
  readonly deathProof: boolean
}

export const help = `Moves money between accounts on a few nodes, kills one of them again and again, and counts the money.

npm start -- [options]
  --seconds N   ends after N seconds; at Ctrl-C unless set
  --nodes N     how many processes; 3 unless set
  --accounts N  how many accounts; 60 unless set
  --tellers N   how many transfers are made at a time; 16 unless set
  --seed S      whom the money goes to and who is killed; drawn unless set
  --no-proof    the kernel does not tell that a process has died: its lease has to run out
  --help        this text

Exits with 0 when every account has what it should have; 1 when not; 2 when it was asked wrongly.
`

const maxSeed = 2 ** 32 - 1

/** `drawn` is the seed for a command that says none. */
export function parseCommand(args: readonly string[], drawn: number): Command {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seconds: { type: "string" },
        nodes: { type: "string" },
        accounts: { type: "string" },
        tellers: { type: "string" },
        seed: { type: "string" },
        "no-proof": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    })
    if (values.help) return { kind: "help" }
    const whole = (name: "seconds" | "nodes" | "accounts" | "tellers" | "seed", from: number, to: number) =>
      wholeNumber(name, values[name], from, to)
    return {
      kind: "run",
      seconds: whole("seconds", 1, 86_400),
      nodes: whole("nodes", 2, 16) ?? 3,
      accounts: whole("accounts", 2, 10_000) ?? 60,
      tellers: whole("tellers", 1, 256) ?? 16,
      seed: whole("seed", 0, maxSeed) ?? drawn >>> 0,
      deathProof: !(values["no-proof"] ?? false),
    }
  } catch (error) {
    return { kind: "wrong", problem: (error as Error).message }
  }
}

function wholeNumber(name: string, text: string | undefined, from: number, to: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new Error(`--${name} must be a whole number from ${from} to ${to}, not "${text}"`)
}

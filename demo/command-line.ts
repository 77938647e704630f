import { maxSeed, type NotRun, parseCommand, wholeNumber } from "../tools/command-line.js"

export type DemoCommand = ({ readonly kind: "run" } & DemoOptions) | NotRun

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

/** `drawn` is the seed of a command that gives none. */
export function parseDemo(args: readonly string[], drawn: number): DemoCommand {
  return parseCommand(args, options, (given) => {
    const whole = (name: NumberName, from: number, to: number) =>
      given[name] === undefined ? undefined : wholeNumber(name, given[name], from, to)
    return {
      kind: "run",
      seconds: whole("seconds", 1, 86_400),
      nodes: whole("nodes", 2, 16) ?? 3,
      accounts: whole("accounts", 2, 10_000) ?? 60,
      tellers: whole("tellers", 1, 256) ?? 16,
      seed: whole("seed", 0, maxSeed) ?? drawn >>> 0,
      deathProof: given["no-proof"] !== true,
    }
  })
}

const text = { type: "string" } as const
const options = {
  seconds: text,
  nodes: text,
  accounts: text,
  tellers: text,
  seed: text,
  "no-proof": { type: "boolean" },
} as const

type NumberName = Exclude<keyof typeof options, "no-proof">

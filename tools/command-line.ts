import { type ParseArgsConfig, parseArgs } from "node:util"

type OptionSet = NonNullable<ParseArgsConfig["options"]>

/** The options that were given, by name. */
export type Given<Options extends OptionSet> = ReturnType<typeof parseArgs<{ options: Options }>>["values"]

export type NotRun = { readonly kind: "help" } | { readonly kind: "wrong"; readonly problem: string }

/**
 * Parses a command line into the command that `understand` makes of its options. `--help` comes before all
 * else; what the options or `understand` refuse, by throwing, is `wrong`.
 */
export function parseCommand<const Options extends OptionSet, Command>(
  args: readonly string[],
  options: Options,
  understand: (given: Given<Options>) => Command,
): Command | NotRun {
  try {
    const given = readOptions(args, options)
    return given.help === true ? { kind: "help" } : understand(given)
  } catch (error) {
    return { kind: "wrong", problem: (error as Error).message }
  }
}

/** Reads the options of a command line and `--help`; throws at an option or an argument that is unknown. */
export function readOptions<const Options extends OptionSet>(
  args: readonly string[],
  options: Options,
): Given<Options> & { readonly help?: boolean } {
  return parseArgs({ args: [...args], options: { ...options, help: { type: "boolean", short: "h" } } })
    .values as Given<Options> & { readonly help?: boolean }
}

/** Shows what a command that is not run has to say, and sets the exit code. */
export function showNotRun(program: string, help: string, command: NotRun): void {
  if (command.kind === "help") {
    process.stdout.write(help)
  } else {
    process.stderr.write(`${program}: ${command.problem}\n`)
    process.exitCode = 2
  }
}

/** Ends this process when nobody reads what it prints any more, as `| head` does. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error
    process.exit()
  })
}

/** The largest seed: seeds have 32 bits. */
export const maxSeed = 2 ** 32 - 1

/** Reads the whole number, in decimal digits, of an option; `byDefault` if the option is not given. */
export function wholeNumber<Name extends string, Default>(
  given: { readonly [name in Name]?: string | undefined },
  name: Name,
  [from, to]: readonly [number, number],
  byDefault: Default,
): number | Default {
  const text = given[name]
  if (text === undefined) return byDefault
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= from && value <= to) return value
  throw new RangeError(`--${name} must be a whole number from ${from} to ${to} (got "${text}")`)
}

/** Finds a name among those that are known. `kind` says what it is the name of. */
export function knownName<Name extends string>(kind: string, text: string, known: readonly Name[]): Name {
  const name = known.find((one) => one === text)
  if (name !== undefined) return name
  throw new RangeError(`there is no ${kind} "${text}"; the ${kind}s are:\n  ${known.join("\n  ")}`)
}

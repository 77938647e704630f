import { execFile } from "node:child_process"

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly timeoutMs?: number
}

/** Runs a command, and returns what it prints on standard output. */
export function command(
  [file = "", ...args]: readonly string[],
  { cwd, env, input = "", timeoutMs = 60_000 }: CommandOptions = {},
): Promise<string> {
  const options = {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    maxBuffer: 256 * 1024 * 1024,
  } as const
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, options, (failure, stdout, stderr) => {
      if (failure === null) return resolve(stdout)
      const printed = `${stdout}${stderr}`.trim() || failure.message
      reject(new Error(`${[file, ...args].join(" ")} failed: ${printed}`, { cause: failure }))
    })
    // A command that ends without reading its input says more by its exit code.
    child.stdin?.on("error", () => {}).end(input)
  })
}

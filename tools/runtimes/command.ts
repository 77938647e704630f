import { execFile } from "node:child_process"

export interface CommandOptions {
  /** Whether the command must fail; what it prints is then the result. */
  readonly fails?: boolean
}

/** Runs a command, and returns what it prints. */
export function command(
  file: string,
  args: readonly string[],
  cwd: string,
  { fails = false }: CommandOptions = {},
): Promise<string> {
  const limits = { timeout: 300_000, killSignal: "SIGKILL", maxBuffer: 64 * 1024 * 1024 } as const
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, env: environment(), ...limits }, (failure, stdout, stderr) => {
      const printed = stdout + stderr
      if ((failure !== null) === fails) return resolve(printed)
      const what = `${file} ${args.join(" ")} ${fails ? "did not fail" : "failed"}`
      reject(new Error(`${what}:\n${printed}`, { cause: failure }))
    })
  })
}

/** The runtimes look for no updates, and print no colors. */
export function environment(): NodeJS.ProcessEnv {
  return { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" }
}

/** Whether somebody wants this process to end: with Ctrl-C, by a signal, or by closing its terminal. */
export interface Interruption {
  readonly signal: AbortSignal
  /** What a process that ended for this says; undefined if nobody asked. */
  exitCode(): number | undefined
}

/** The first one lets the program end in its own way; after that a second one ends the process as usual. */
export function interruption(): Interruption {
  const controller = new AbortController()
  let exitCode: number | undefined
  for (const [signal, code] of [
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.once(signal, () => {
      exitCode ??= code
      controller.abort()
    })
  }
  return { signal: controller.signal, exitCode: () => exitCode }
}

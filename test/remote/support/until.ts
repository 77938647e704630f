/** Resolves once `done` says so, and rejects with what was waited for if it has not within `deadlineMs`. */
export async function until(what: string, done: () => boolean, deadlineMs = 15_000): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!done()) {
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

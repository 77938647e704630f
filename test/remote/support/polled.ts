/** As `until`, for what nobody gives notice of: looks again and again. */
export async function polled(what: string, done: () => boolean, deadlineMs = 15_000): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!done()) {
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** As `until`, for conditions without a notification: polls. */
export async function polled(what: string, done: () => boolean, deadlineMs = 15_000): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!done()) {
    if (performance.now() > end) throw new Error(`timed out after ${deadlineMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** The child's half: a program that a row starts calls this once it is ready, and lives no longer than the row. */
export function greetParent(greeting: string, stop: () => void | Promise<void>): void {
  if (process.send === undefined) throw new Error("this program is started by a row of the table")
  process.once("disconnect", () => process.exit())
  process.once("message", async () => {
    await stop()
    process.exit()
  })
  process.send(greeting)
}

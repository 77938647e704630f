import { mkdirSync } from "node:fs"
import { command } from "./command.js"
import { giveToUnprivileged } from "./unprivileged.js"

/** Copies a folder with owners and modes. Files that a running server removes meanwhile are left out. */
export async function copyFolder(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  giveToUnprivileged(to)
  try {
    await command(["cp", "-a", `${from}/.`, to], { env: { LC_ALL: "C" } })
  } catch (error) {
    const { message } = error as Error
    const complaints = message.split("\n").filter((line) => line.includes("cp: "))
    if (complaints.length === 0 || complaints.some((line) => !line.endsWith("No such file or directory")))
      throw error
  }
}

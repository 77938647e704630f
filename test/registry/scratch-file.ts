import { onTestFinished } from "vitest"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"

/** A path in a folder of this test's own, which is removed after all that was started later has ended. */
export function scratchFile(name = "store.db"): string {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  return folder.file(name)
}

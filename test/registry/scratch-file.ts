import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** A path in a folder of this test's own, which goes when the test is over, after all that was started later. */
export function scratchFile(name = "store.db"): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-registry-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}

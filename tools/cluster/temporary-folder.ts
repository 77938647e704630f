import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface TemporaryFolder {
  readonly path: string
  /** The path of a file in it. */
  file(name: string): string
  remove(): void
}

/** Makes a folder of its own for each caller, where temporary files go. */
export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), "troupe-"))
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

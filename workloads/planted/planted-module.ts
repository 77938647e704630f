import { readFileSync } from "node:fs"
import { register } from "node:module"
import { compiledPath, type Planting, plantedText } from "./planting.js"

/** What the thread that loads modules is told. */
export interface PlantedModule {
  readonly url: string
  readonly source: string
  /** Becomes 1 when the module has been loaded; memory that both threads share. */
  readonly loaded: Int32Array
}

/**
 * Imports what `load` does, with a bug planted in one module on its way into this process.
 *
 * Nothing changes on the disk: several runs read the same compiled code at a time, and one that is killed
 * must not leave its bug behind. A module that this process has already loaded stays as it is, so whoever
 * calls this imports nothing of `src` before; that it did not is checked, for the run would look like one in
 * which the bug is not found.
 */
export async function importPlanted<T>(planting: Planting, load: () => Promise<T>): Promise<T> {
  const { name, file } = planting
  const url = new URL(`../../${compiledPath(planting)}`, import.meta.url)
  const data: PlantedModule = {
    url: url.href,
    source: plantedText(planting, readFileSync(url, "utf8")),
    loaded: new Int32Array(new SharedArrayBuffer(4)),
  }
  register("./planted-module-hook.js", { parentURL: import.meta.url, data })
  const imported = await load().catch((cause: unknown) => {
    throw new Error(`planting ${name}: with it in ${file}, nothing can be loaded: ${cause}`, { cause })
  })
  if (Atomics.load(data.loaded, 0) === 0) {
    throw new Error(`planting ${name}: ${file} is not loaded, or was loaded before it could be planted`)
  }
  return imported
}

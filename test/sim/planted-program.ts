import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { compiledPath, type Planting, plantedText } from "../../workloads/planted/planting.js"
import { scratchFolder } from "../types/compiler.js"

export interface PlantedProgram extends Disposable {
  /** The program of `npm run sim`, with the bug in one of its modules. */
  readonly main: string
}

/**
 * Links the compiled workloads into a folder of their own, all but the module with the bug. `importPlanted`
 * plants the bug without a folder, but starts a thread that loads modules, which takes as long as many a seed.
 */
export function plantedProgram(compiled: string, planting: Planting): PlantedProgram {
  const folder = scratchFolder()
  const planted = compiledPath(planting)
  const made = new Set<string>()
  for (const path of readdirSync(compiled, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".js")) continue
    const file = join(folder.path, path)
    if (!made.has(dirname(file))) mkdirSync(dirname(file), { recursive: true })
    made.add(dirname(file))
    linkSync(join(compiled, path), file)
  }
  // The link goes first: to write through it would change the module of all.
  rmSync(join(folder.path, planted))
  folder.write(planted, plantedText(planting, readFileSync(join(compiled, planted), "utf8")))
  return {
    main: join(folder.path, "workloads/main.js"),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

import type { InitializeHook, LoadHook } from "node:module"
import type { PlantedModule } from "./planted-module.js"

let planted: PlantedModule | undefined

/** Node calls this, and `load`, in the thread that loads modules. */
export const initialize: InitializeHook<PlantedModule> = (module) => {
  planted = module
}

export const load: LoadHook = (url, context, nextLoad) => {
  if (url !== planted?.url) return nextLoad(url, context)
  Atomics.store(planted.loaded, 0, 1)
  return { format: "module", source: planted.source, shortCircuit: true }
}

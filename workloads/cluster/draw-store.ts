import type { SimStore, Stage, StageStoreOptions } from "../../src/sim/index.js"

/**
 * A store of one of the kinds that there are: whose commits are made one after another, or concurrently; and
 * whose listings come in one page, or in small ones, so that something changes between them.
 */
export function drawStore(stage: Stage, options: StageStoreOptions = {}): SimStore {
  return stage.store("store", {
    ...options,
    order: stage.knob("order", ["ordered", "concurrent"]),
    pageEntries: stage.knob("pageEntries", [1_000, 1, 2]),
  })
}

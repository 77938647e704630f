import { availableParallelism } from "node:os"
import { configDefaults, defineConfig, type Plugin } from "vitest/config"
import { LongestFirst } from "./test/longest-first.js"

/** Changes one place in the text of a module whose import asks for it; see `test/golden/planted-import.ts`. */
const plantedImports: Plugin = {
  name: "planted-imports",
  enforce: "pre",
  transform(text, id) {
    const query = new URLSearchParams(id.split("?")[1] ?? "")
    const planted = query.get("planted")
    if (planted === null) return undefined
    const { from, to } = JSON.parse(planted) as { from: string; to: string }
    if (text.split(from).length !== 2) throw new Error(`${from} is not once in ${id.split("?")[0]}`)
    return text.replace(from, () => to)
  },
}

/**
 * Tests that leave their process as they found it: one process runs many of these files, and loads the sources once.
 * Each of the others has a process of its own. They patch Node's globals, replace modules, start processes, or measure
 * the heap and the sockets of theirs.
 */
const sharing = [
  "src/{actor,address,client,errors,gateway,membership,placement,registry,remote,serialization,sharding,sim,system,virtual}/*.test.ts",
  "src/sharding/entities/*.test.ts",
  "src/stores/{,etcd/,postgres/}*.test.ts",
  "test/sharding/{clients,closing,entities,generations,hosting,moves,troubles}.test.ts",
  "test/virtual/*.test.ts",
  "test/sim/{failure-place,network-faults,never-hangs,restored-store,stage}.test.ts",
  "test/stores/conformance-{memory,sim}.test.ts",
  "{bench,chaos,demo,tools,workloads}/*.test.ts",
  "workloads/{cluster,membership}/*.test.ts",
  "workloads/command/{command-line,report,seed-queue}.test.ts",
  "workloads/planted/{frames,planted,planting,remoting}.test.ts",
  "spec/**/*.test.ts",
]

/** Tests that `npm run test:engines` alone runs. */
const full = "**/*.full.test.ts"

export default defineConfig({
  plugins: [plantedImports],
  // The examples import `troupe` as its users do.
  resolve: { tsconfigPaths: true },
  test: {
    reporters: ["default", "./test/progress.ts", "./test/closing-line.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default one core is left free, which on two cores is half of them.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "apart",
          include: ["{src,test,bench,workloads,examples,tools,spec,demo,chaos}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, full, ...sharing],
        },
      },
      {
        extends: true,
        test: {
          name: "together",
          include: sharing,
          exclude: [...configDefaults.exclude, full],
          isolate: false,
        },
      },
    ],
  },
})

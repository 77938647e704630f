import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  // The examples import `troupe` as its users do.
  resolve: { tsconfigPaths: true },
  test: {
    include: ["{src,test,bench,workloads,examples,tools,spec,demo,chaos}/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
    // By default one core is left free, which on two cores is half of them.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
})

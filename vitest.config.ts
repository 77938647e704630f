import { defineConfig } from "vitest/config"

export default defineConfig({
  // The examples import `troupe` as its users do.
  resolve: { tsconfigPaths: true },
  test: {
    include: ["{src,test,bench,workloads,examples,tools,spec,demo,chaos}/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
  },
})

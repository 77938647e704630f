import { configDefaults, defineConfig } from "vitest/config"
import config from "./vitest.config.js"

const { projects: _, ...shared } = config.test ?? {}

/** The tests on real engines, in full; `npm test` runs a share of them. See `tools/engines/README.md`. */
export default defineConfig({
  ...config,
  test: {
    ...shared,
    include: [
      "tools/engines/**/*.test.ts",
      "test/stores/{postgres,etcd}/**/*.test.ts",
      "{src,test,bench,tools,demo,chaos}/**/*.full.test.ts",
    ],
    exclude: configDefaults.exclude,
    env: { TROUPE_ENGINES: "full" },
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})

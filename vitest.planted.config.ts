import { configDefaults, defineConfig } from "vitest/config"
import config from "./vitest.config.js"

const { projects: _, ...shared } = config.test ?? {}

/** Looks for every planted bug; `npm test` looks for a share of them. */
export default defineConfig({
  ...config,
  test: {
    ...shared,
    include: ["workloads/planted/plantings.test.ts"],
    exclude: configDefaults.exclude,
    env: { TROUPE_PLANTED: "all" },
  },
})

import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    reporters: ["default", "./test/closing-line.ts"],
    testTimeout: 60_000,
  },
})

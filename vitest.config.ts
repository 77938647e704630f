import { availableParallelism } from "node:os"
import { defineConfig, type Plugin } from "vitest/config"

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

export default defineConfig({
  plugins: [plantedImports],
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

import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { expect, test } from "vitest"

test("the client is below 5 kB, minified and compressed, and imports nothing", async () => {
  const bundle = await rolldown({ input: "src/client/index.ts", platform: "browser", logLevel: "silent" })
  const { output } = await bundle.generate({ minify: true, format: "esm" })
  await bundle.close()
  expect(output).toHaveLength(1)
  const [{ code, imports }] = output
  expect(imports).toEqual([])
  expect(code).toContain("WebSocket")
  expect(gzipSync(code, { level: 9 }).length).toBeLessThan(5_000)
})

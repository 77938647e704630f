import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { compiledOnce } from "../../tools/compiled-once.js"
import * as own from "../rows/index.js"
import { fakeRegistry } from "./fake-registry.js"
import { peerRows } from "./peer-rows.js"

it("has rows that say whose figures they are, and stand apart from all others", () => {
  const names = peerRows.map(({ name }) => name)
  for (const { name, peer } of peerRows) expect(name.startsWith(`peer-${peer.name}-`), name).toBe(true)
  expect(new Set([...names, ...Object.values(own).map(({ name }) => name)]).size).toBe(
    names.length + Object.values(own).length,
  )
})

it("names exact versions", () => {
  for (const name of peerRows.flatMap(({ peer }) => peer.packages)) {
    expect(name).toMatch(/^(@[a-z-]+\/)?[a-z-]+@\d+\.\d+\.\d+(-rc\.\d+)?$/)
  }
})

it("is a table that says why a peer is not in it when there is no registry, and no failure", async () => {
  const registry = await fakeRegistry("refuses")
  const built = await compiledOnce({
    name: "bench-built",
    config: "bench/tsconfig.json",
    sources: ["bench", "src", "tools"],
  })
  // Rejects unless it exits with 0.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(built, "bench/main.js"), "--peers", "--json", "--only", "peer-nact-query-1,peer-nact-query-64"],
    { env: registry.environment },
  )
  const problem = expect.stringMatching(/^could not be installed: .*ECONNREFUSED/)
  expect(JSON.parse(stdout)).toEqual([
    { name: "peer-nact-query-1", unit: "asks/s", problem },
    { name: "peer-nact-query-64", unit: "asks/s", problem },
  ])
  expect(registry.left()).toEqual([])
  registry.stop()
})

import { afterAll, beforeAll, expect, test } from "vitest"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import { checkLinearizable, register } from "../../../src/sim/index.js"
import type { StoreHarness } from "../../../src/stores/conformance/index.js"
import * as sources from "../../../src/stores/conformance/index.js"
import { command } from "../../../tools/engines/command.js"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { EtcdServer } from "../../../tools/engines/etcd-server.js"
import { builtSuite } from "../conformance-build.js"
import { Load, opened } from "./opened-stores.js"

const { suite, urlOf } = isFull ? await built() : { suite: sources, urlOf: () => undefined }
const module = urlOf("test/stores/etcd/conformance-provider.js")
const { provider, changeEpoch }: typeof import("./conformance-provider.js") = await import(
  module ?? "./conformance-provider.js"
)

await describeWith("etcd", "the etcd store", () => {
  let server: EtcdServer
  let stores = 0

  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  afterAll(() => server.remove())

  const harness: StoreHarness = {
    ...(module === undefined ? {} : { module }),
    changesEpoch: true,
    create: async () => {
      stores += 1
      const argument = JSON.stringify({
        endpoints: server.url,
        prefix: `store-${stores}/`,
        timeoutMs: 30_000,
      })
      return {
        argument,
        open: (namespace) => provider(argument).open(namespace, nodePorts()),
        changeEpoch: () => changeEpoch(argument),
        dispose: async () => {},
      }
    },
  }

  for (const { name, run } of suite.storeConformance(harness)) test(name, run)

  if (!isFull) return

  test("an open store with a watch does not keep its process alive", async () => {
    const ports = urlOf("src/runtime/node-ports.js")
    const program = `
      const { provider } = await import(${JSON.stringify(module)})
      const { nodePorts } = await import(${JSON.stringify(ports)})
      const store = await provider(process.argv[1]).open("conformance", nodePorts())
      const from = await store.list("wards/")
      store.watch("wards/", from, { changed: () => {}, gap: () => {} })
      const writes = [{ kind: "put", key: "wards/a", value: new Uint8Array(1) }]
      console.log((await store.commit({ epoch: from.epoch, conditions: [], writes })).kind)`
    const { argument = "" } = await harness.create()
    const args = ["--input-type=module", "--eval", program, argument]
    expect(await command([process.execPath, ...args])).toBe("committed\n")
  })

  test("the history of four processes, some of which were killed as the server was, is linearizable", async () => {
    const runs = Number(process.env["STORE_HISTORIES"] ?? 4)
    let kills = 0
    let restarts = 0
    const over = new AbortController()
    const load = await Load.start(await opened({ endpoints: server.url }), 1)
    const killing = (async () => {
      for (; !over.signal.aborted; restarts += 1) {
        await load.more(50)
        await server.kill()
        await server.restart()
      }
    })()
    for await (const history of suite.recordHistories(harness, { runs })) {
      const verdict = checkLinearizable(history, register())
      expect(verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind).toBe(
        "linearizable",
      )
      expect(history.operations.length).toBeGreaterThan(150)
      kills += history.kills
    }
    over.abort()
    await killing
    expect(await load.stop()).toEqual([])
    expect(kills).toBeGreaterThan(0)
    expect(restarts).toBeGreaterThan(2)
  }, 600_000)
})

/** Other processes run a build, and take seconds. */
function built() {
  return builtSuite("etcd/tsconfig.conformance.json", "conformance-etcd")
}

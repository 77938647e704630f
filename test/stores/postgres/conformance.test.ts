import { afterAll, beforeAll, expect, test } from "vitest"
import { checkLinearizable, register } from "../../../src/sim/index.js"
import type { StoreHarness } from "../../../src/stores/conformance/index.js"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { PostgresServer } from "../../../tools/engines/postgres-server.js"
import { builtSuite } from "../conformance-build.js"
import { quietPorts } from "./quiet-ports.js"

const { suite, urlOf } = await builtSuite("postgres/tsconfig.json", "conformance-postgres")
const module = urlOf("test/stores/postgres/provider.js")
const { provider, renewEpoch, optionsOf }: typeof import("./provider.js") = await import(module)

/** Transactions of others make moments older, and some cases compare them exactly. */
const QUIET = { autovacuum: "off" }

for (const version of isFull ? ([15, 18] as const) : ([18] as const)) {
  await describeWith(`postgres-${version}`, `the store on PostgreSQL ${version}`, () => {
    let server: PostgresServer
    let made = 0
    beforeAll(async () => {
      server = await PostgresServer.start({ version, fsync: false, settings: QUIET })
    })
    afterAll(() => server.remove())

    const all: StoreHarness = {
      module,
      forgetsAfterCommits: 5_000,
      changesEpoch: true,
      create: async () => {
        made += 1
        const argument = JSON.stringify({ url: server.url, schema: `suite_${made}` })
        return {
          argument,
          open: (namespace) => provider(argument).open(namespace, quietPorts()),
          changeEpoch: async () => {
            await renewEpoch(optionsOf(argument))
          },
          dispose: async () => {},
        }
      },
    }
    const { module: _, forgetsAfterCommits: __, ...quick } = all
    for (const { name, run } of suite.storeConformance(isFull ? all : quick)) test(name, run)

    if (!isFull) return

    test("the history of four processes, some of which were killed, is linearizable", async () => {
      const runs = Number(process.env["STORE_HISTORIES"] ?? 3)
      let kills = 0
      for await (const history of suite.recordHistories(all, { runs })) {
        const verdict = checkLinearizable(history, register())
        expect(verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind).toBe(
          "linearizable",
        )
        expect(history.operations.length).toBeGreaterThan(150)
        kills += history.kills
      }
      expect(kills).toBeGreaterThan(0)
    }, 600_000)
  })
}

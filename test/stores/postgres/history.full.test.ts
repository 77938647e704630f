import { expect, onTestFinished, test } from "vitest"
import type { Change, ClusterStore } from "../../../src/ports/store.js"
import { checkLinearizable, register } from "../../../src/sim/index.js"
import type { RecordedHistory, StoreHarness } from "../../../src/stores/conformance/index.js"
import { describeWith } from "../../../tools/engines/engine-tests.js"
import type { PostgresServer } from "../../../tools/engines/postgres-server.js"
import { builtSuite } from "../conformance-build.js"
import { openStore, startServer, write } from "./scene.js"

const { suite, urlOf } = await builtSuite("postgres/tsconfig.json", "conformance-postgres")
const module = urlOf("test/stores/postgres/provider.js")

const KEYS = ["wards/register-1", "wards/register-2", "wards/register-3"]
const EIGHT = { runs: 1, processes: 8, keys: KEYS, operations: 60 }

for (const version of [15, 18] as const) {
  await describeWith(`postgres-${version}`, `the history of eight processes on PostgreSQL ${version}`, () => {
    test("is linearizable, and watches miss nothing, while processes and the server are killed", async () => {
      const server = await startServer({ version })
      const observed = new Observed()
      let serverKills = 0
      let nextKillAt = 40
      let restarting: Promise<void> | undefined
      const held = new HeldTransaction(server)
      observed.onChange = (count) => {
        if (count < nextKillAt || serverKills === 4 || restarting !== undefined) return
        serverKills += 1
        nextKillAt = count + 40
        restarting = killAndRestart(server, held).finally(() => {
          restarting = undefined
        })
      }
      await held.begin()
      for await (const history of suite.recordHistories(harnessOf(server, observed), EIGHT)) {
        await restarting
        await check(history, observed)
        expect(history.kills).toBeGreaterThan(0)
      }
      expect(serverKills).toBe(4)
    }, 600_000)

    test("is linearizable, and watches miss nothing, while somebody else keeps a transaction open for 30 s", async () => {
      const server = await startServer({ version })
      const held = new HeldTransaction(server)
      await held.begin()
      const beganAt = performance.now()
      let seed = 1
      do {
        const observed = new Observed()
        for await (const history of suite.recordHistories(harnessOf(server, observed), { ...EIGHT, seed })) {
          await check(history, observed)
        }
        seed += 1
      } while (performance.now() - beganAt < 30_000)
      expect(await held.isOpen()).toBe(true)
    }, 600_000)
  })
}

/** A transaction of somebody else, with an id. */
class HeldTransaction {
  readonly #server: PostgresServer
  #session: Awaited<ReturnType<PostgresServer["connect"]>> | undefined

  constructor(server: PostgresServer) {
    this.#server = server
    onTestFinished(() => this.#session?.close())
  }

  async begin(): Promise<void> {
    this.#session?.close()
    this.#session = await this.#server.connect()
    await this.#session.query("CREATE TABLE IF NOT EXISTS other (n int)")
    await this.#session.query("BEGIN")
    await this.#session.query("INSERT INTO other VALUES (1)")
  }

  async isOpen(): Promise<boolean> {
    const rows = await this.#session?.query(
      "SELECT count(*) FROM other WHERE xmin::text = pg_current_xact_id()::text",
    )
    return rows?.[0]?.[0] === "1"
  }
}

async function killAndRestart(server: PostgresServer, held: HeldTransaction): Promise<void> {
  await server.kill()
  await server.restart()
  await held.begin()
}

let made = 0

/** Each history has a store of its own, which is watched by another handle. */
function harnessOf(server: PostgresServer, observed: Observed): StoreHarness {
  return {
    module,
    create: async () => {
      made += 1
      const options = { url: server.url, schema: `history_${made}` }
      const store = await openStore(options)
      await observed.follow(store)
      return {
        argument: JSON.stringify({ ...options, patient: true }),
        open: async () => store,
        dispose: async () => {},
      }
    },
  }
}

/** What a watch has reported. */
class Observed {
  readonly changes: Change[] = []
  onChange: (count: number) => void = () => {}
  #store: ClusterStore | undefined
  #onEnd: () => void = () => {}

  async follow(store: ClusterStore): Promise<void> {
    this.#store = store
    const from = await store.list("wards/")
    store.watch("wards/", from, {
      changed: (changes) => {
        this.changes.push(...changes)
        this.onChange(this.changes.length)
        if (changes.some(({ key }) => key === "wards/end")) this.#onEnd()
      },
      gap: () => {
        throw new Error("the watch received a gap")
      },
    })
  }

  /** The values of a key in the order in which the watch reported them. */
  async valuesOf(key: string): Promise<readonly string[]> {
    return this.changes
      .filter((change) => change.key === key)
      .map(({ value }) => Buffer.from(value as Uint8Array).toString())
  }

  /** Resolves when the watch has reported everything that was committed by now. */
  async caughtUp(): Promise<ClusterStore> {
    const store = this.#store as ClusterStore
    const ended = new Promise<void>((resolve) => {
      this.#onEnd = resolve
    })
    await write(store, "wards/end", "here")
    await ended
    return store
  }
}

async function check(history: RecordedHistory, observed: Observed): Promise<void> {
  const verdict = checkLinearizable(history, register())
  expect(verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind).toBe("linearizable")
  expect(history.operations.length).toBeGreaterThan(300)
  const store = await observed.caughtUp()
  for (const key of KEYS) {
    const values = await observed.valuesOf(key)
    const revisions = observed.changes.filter((change) => change.key === key).map(({ revision }) => revision)
    expect(revisions, `the revisions of ${key}`).toEqual(
      [...new Set(revisions)].sort((one, two) => one - two),
    )
    expect(new Set(values).size).toBe(values.length)
    const { entry } = await store.get(key)
    expect(entry && Buffer.from(entry.value).toString()).toBe(values.at(-1))
    for (const { input, outcome } of history.operations.filter((operation) => operation.key === key)) {
      if (outcome.kind !== "ok") continue
      const seen = input.kind === "read" ? (outcome.output as { value?: string | null }).value : input.value
      if (seen === null || seen === undefined) continue
      expect(values, `${seen} of ${key} was reported`).toContain(seen)
      if (input.kind !== "compare-and-set") continue
      const before = values[values.indexOf(seen) - 1] ?? null
      expect(before, `what ${seen} of ${key} replaced`).toBe(input.expected)
    }
  }
}

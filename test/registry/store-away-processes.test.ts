import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { consoleLogger } from "../../src/runtime/console-logger.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import type * as Driver from "../../src/stores/sqlite/driver.js"
import type { Connection } from "../../src/stores/sqlite/driver.js"
import type * as Sqlite from "../../src/stores/sqlite/index.js"
import { within } from "../../tools/within.js"
import { FileLock } from "./file-lock.js"
import { built, RegistryNode } from "./node-process.js"
import type { CountingProgress } from "./programs/counting-actor.js"
import type { NodeOptions } from "./programs/node.js"
import { storedValue } from "./programs/states.js"
import { scratchFile } from "./scratch-file.js"

const { sqliteStore }: typeof Sqlite = await import(urlOf("index"))
const { loadDriver }: typeof Driver = await import(urlOf("driver"))

function urlOf(module: string): string {
  return pathToFileURL(join(built, `src/stores/sqlite/${module}.js`)).href
}

const AWAY_MS = 3_000

test("a store that is away for less than the lease holds up saves, and nothing else", async () => {
  const { nodes, history, lock } = await cluster({ ttlMs: 10_000 })
  const ids = await identities(nodes)
  const locked = await lock()
  const during = await counted(nodes)
  await locked.goesOnFor(AWAY_MS)
  const after = await counted(nodes)
  for (const [index, { turns, acknowledged }] of during.entries()) {
    const later = after[index] as CountingProgress
    // One a millisecond or so; a tenth of that is enough to say that they went on.
    expect(later.turns).toBeGreaterThan(turns + AWAY_MS / 10)
    // The answer to one that was made before the lock may have been on its way.
    expect(later.acknowledged).toBeLessThanOrEqual(acknowledged + 1)
  }
  await locked.letGo()
  await savesGoOn(nodes, after)
  expect(await identities(nodes)).toEqual(ids)
  expect(nodes.flatMap(({ events }) => events.items.filter(({ kind }) => kind === "fenced"))).toEqual([])
  const ended = await stopCounting(nodes)
  expect(ended.map(({ activations }) => activations)).toEqual([1, 1, 1, 1])
  nothingIsLostOrTwice(history, ended)
  for (const node of nodes) await node.call("stop")
})

test("a store that is away for longer than the lease holds its nodes up, and they go on with what they have, also if another one starts meanwhile", async () => {
  const { nodes, history, lock, join } = await cluster({ ttlMs: 1_000 })
  const ids = await identities(nodes)
  const locked = await lock()
  const during = await counted(nodes)
  const joined = join()
  await locked.goesOnFor(1_000)
  // Up to the deadline they had turns, and then none.
  const heldUp = await counted(nodes)
  for (const [index, { turns }] of during.entries()) {
    expect((heldUp[index] as CountingProgress).turns).toBeGreaterThan(turns)
  }
  await locked.goesOnFor(AWAY_MS - 1_000)
  expect((await counted(nodes)).map(({ turns }) => turns)).toEqual(heldUp.map(({ turns }) => turns))
  await locked.letGo()
  const newcomer = await joined
  await savesGoOn(nodes, heldUp)
  const ended = await stopCounting(nodes)
  // Nobody has ended anybody's lease meanwhile, nor when the store was back.
  expect(ended.map(({ activations }) => activations)).toEqual([1, 1, 1, 1])
  expect(await identities(nodes)).toEqual(ids)
  expect(nodes.flatMap(({ events }) => events.items.filter(({ kind }) => kind === "fenced"))).toEqual([])
  nothingIsLostOrTwice(history, ended)
  for (const node of [...nodes, newcomer]) await node.call("stop")
})

interface Cluster {
  readonly nodes: readonly RegistryNode[]
  /** What was stored under each key, in order. */
  readonly history: History
  lock(): Promise<FileLock>
  /** Starts another node. */
  join(): Promise<RegistryNode>
}

/** Two nodes, each with two actors that count and save. All have begun. */
async function cluster(lease: NonNullable<NodeOptions["lease"]>): Promise<Cluster> {
  const file = scratchFile()
  const history = await History.begin(file)
  const nodes = [await RegistryNode.start({ file, lease }), await RegistryNode.start({ file, lease })]
  for (const [index, node] of nodes.entries()) {
    await node.call("count", `${index}-a`)
    await node.call("count", `${index}-b`)
  }
  await savesGoOn(nodes, [])
  const join = () => RegistryNode.start({ file, lease })
  return { nodes, history, lock: () => FileLock.take(file), join }
}

async function identities(nodes: readonly RegistryNode[]): Promise<string[]> {
  const all = await Promise.all(nodes.map((node) => node.call("identify")))
  return all.map(({ node }) => node)
}

async function counted(nodes: readonly RegistryNode[]): Promise<CountingProgress[]> {
  return (await Promise.all(nodes.map((node) => node.call("counted")))).flat()
}

async function stopCounting(nodes: readonly RegistryNode[]): Promise<CountingProgress[]> {
  return (await Promise.all(nodes.map((node) => node.call("stopCounting")))).flat()
}

/** Until every actor has saved some more than it had `before`. */
async function savesGoOn(nodes: readonly RegistryNode[], before: readonly CountingProgress[]): Promise<void> {
  const numbers = Object.fromEntries(
    (await counted(nodes)).map(({ key }) => [
      key,
      10 + (before.find((one) => one.key === key)?.acknowledged ?? 0),
    ]),
  )
  const saved = nodes.map((node) => node.call("savesMoreThan", numbers))
  await within(15_000, "every actor has saved more", Promise.all(saved))
}

function nothingIsLostOrTwice(history: History, actors: readonly CountingProgress[]): void {
  expect(actors.length).toBe(4)
  for (const { key, acknowledged } of actors) {
    const counts = history.of(key)
    expect(counts).toEqual(Array.from({ length: counts.length }, (_, index) => index + 1))
    // All of the saves have ended, and whichever was not made is not known to anybody as made.
    expect(counts.length).toBeGreaterThanOrEqual(acknowledged)
    expect(counts.length).toBeLessThanOrEqual(acknowledged + 1)
  }
}

/** All that was ever stored as an actor's state, as a trigger in the file has written it down. */
class History {
  readonly #connection: Connection

  static async begin(file: string): Promise<History> {
    const quiet = consoleLogger({ level: "error", write: () => {} })
    const store = await sqliteStore({ file }).open("test", nodePorts({ logger: quiet }))
    await store.close()
    const connection = (await loadDriver())(file)
    onTestFinished(() => connection.close())
    connection.exec("CREATE TABLE seen (key TEXT, value BLOB)")
    for (const event of ["INSERT", "UPDATE"]) {
      connection.exec(
        `CREATE TRIGGER on_${event} AFTER ${event} ON entries WHEN new.key LIKE '${STATES}%' BEGIN INSERT INTO seen VALUES (new.key, new.value); END`,
      )
    }
    return new History(connection)
  }

  private constructor(connection: Connection) {
    this.#connection = connection
  }

  of(key: string): readonly unknown[] {
    const rows = this.#connection
      .prepare("SELECT value FROM seen WHERE key = ? ORDER BY rowid")
      .all(STATES + key)
    return rows.map(({ value }) => storedValue(value as Uint8Array))
  }
}

const STATES = "test/state/Account/"

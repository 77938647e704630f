import { inspect } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { Cuts } from "../../chaos/cuts.js"
import { Relay } from "../../chaos/relay.js"
import {
  ActorSystem,
  type ActorSystemSettings,
  jsonCodec,
  type LogFields,
  type Logger,
  memoryStore,
  SettingsError,
} from "../../src/index.js"
import { REFUSED, WELCOME } from "../../src/remote/frames.js"
import { Received } from "../../tools/received.js"
import { RawListener } from "../remote/support/raw-listener.js"
import { frame } from "../remote/support/wire.js"

const SECRET = "a secret of this test alone"

test.each<[string, Partial<ActorSystemSettings>, string]>([
  ["seeds without listen", { seeds: ["127.0.0.1:1"] }, "seeds must not be set without listen"],
  [
    "seeds with a store",
    { seeds: ["127.0.0.1:1"], listen: { host: "127.0.0.1", port: 0 }, store: memoryStore() },
    "seeds must not be set with store",
  ],
])("a node with %s does not start", async (_, settings, problem) => {
  await expect(ActorSystem.start({ namespace: "test", ...settings })).rejects.toThrow(problem)
})

test("a node with another codec is refused at once, with the reason on both sides", async () => {
  const { seed, log } = await member()
  const error = await start({ seeds: [seed], codec: jsonCodec() })
  expect(error).toBeInstanceOf(SettingsError)
  expect(`${error}`).toContain(`codec must be that of the seed ${seed} (got troupe-json-1)`)
  await log.first("the member logs it", (line) => line.includes("wrong-codec"))
})

test("a node that joins by seeds is refused at once by one that uses a store", async () => {
  const { seed } = await member({ store: memoryStore() })
  const error = await start({ seeds: [seed] })
  expect(`${error}`).toContain(`the node at ${seed} uses a store; set the same store`)
})

test("a seed that is written in another way than the node is known fails at once", async () => {
  const { address, settings } = await place()
  const seed = address.replace("127.0.0.1", "localhost")
  const error = await start({ ...settings, seeds: [seed] })
  expect(`${error}`).toContain(`${seed} is this node, which is known as ${address}`)
})

test.each<[string, Partial<ActorSystemSettings>, string]>([
  ["another secret", { listen: { host: "127.0.0.1", port: 0, secret: `another ${SECRET}` } }, "wrong-secret"],
  ["another namespace", { namespace: "other" }, "wrong-secret"],
])("a node with %s is refused, with the reason on both sides", async (_, settings, reason) => {
  const { seed, log } = await member()
  const error = await start({ seeds: [seed], joinMs: 500, ...settings })
  expect(`${error}`).toContain(`${seed}: the other node refused this node as unproven`)
  await log.first("the member logs it", (line) => line.includes(reason))
})

test("a node whose seed has another version of the protocol says so", async () => {
  const listener = await RawListener.start()
  onTestFinished(() => listener.stop())
  const starting = start({ seeds: [listener.authority], joinMs: 1_000 })
  const dialler = await listener.dialled()
  dialler.send(frame(WELCOME, Buffer.from([99])))
  expect(`${await starting}`).toContain(
    `${listener.authority}: the nodes use different versions of the protocol`,
  )
})

test.each([
  ["refuses the codec", 3],
  ["says that this node was removed", 13],
])(
  "a listener without a proof that %s is not believed, and another seed lets the node in",
  async (_, code) => {
    const { seed } = await member()
    const listener = await RawListener.start()
    onTestFinished(() => listener.stop())
    const { log, settings } = await place()
    const starting = start({ ...settings, seeds: [listener.authority, seed] })
    const dialler = await listener.dialled()
    dialler.send(frame(REFUSED, Buffer.from([code])))
    await log.first("the node hears it", (line) => line.includes("cannot connect to a node"))
    expect(await starting).toBe("joined")
    expect(log.items.join()).not.toContain("no longer a member")
  },
)

test("a node whose seeds are all dead says what it tried, and who forms a cluster", async () => {
  const seeds = ["127.0.0.1:1", "127.0.0.1:2"]
  const error = `${await start({ seeds, joinMs: 500 })}`
  expect(error).toContain("no seed has let this node join within 500 ms")
  for (const seed of seeds) expect(error).toContain(`${seed}: check that the node is up`)
  expect(error).toContain(`only the first seed, ${seeds[0]}, forms a cluster if there is none`)
})

test("a node whose seed is in no cluster either says so", async () => {
  const { address, settings } = await place()
  const seeds = ["127.0.0.1:1", address]
  const [, error] = await Promise.all([
    start({ ...settings, seeds, joinMs: 1_000 }),
    start({ seeds, joinMs: 1_000 }),
  ])
  expect(`${error}`).toContain(`${address}: the node there is in no cluster either`)
})

/** An address that is known before its node listens: that of a relay. */
async function place() {
  const relay = await Relay.open("seed", new Cuts(), () => "a node")
  onTestFinished(() => relay.close())
  const log = new Received<string>()
  const logger = logging((line) => {
    log.add(line)
    const listening = /listening for other nodes .* at: '127.0.0.1:(\d+)'/.exec(line)
    if (listening !== null) relay.sendOnTo(Number(listening[1]))
  })
  const listen = { host: "127.0.0.1", port: 0, secret: SECRET }
  const settings = { namespace: "test", listen, advertise: { port: relay.port }, logger, ...quick }
  return { address: `127.0.0.1:${relay.port}`, log, settings }
}

/** A cluster of one node: its seed, if it has no store. */
async function member(given: Partial<ActorSystemSettings> = {}) {
  const { address: seed, log, settings } = await place()
  const seeds = given.store === undefined ? { seeds: [seed] } : {}
  const system = await ActorSystem.start({ ...settings, ...seeds, ...given })
  onTestFinished(() => system.stop())
  return { seed, log }
}

/** Resolves with the error of the start, or with `joined`. */
async function start(settings: Partial<ActorSystemSettings>): Promise<unknown> {
  const listen = { host: "127.0.0.1", port: 0, secret: SECRET }
  try {
    const logger = logging(() => {})
    const system = await ActorSystem.start({ namespace: "test", listen, logger, ...quick, ...settings })
    onTestFinished(() => system.stop())
    return "joined"
  } catch (error) {
    return error
  }
}

const quick = { gossipIntervalMs: 50, reconnect: { fromMs: 50 } }

function logging(add: (line: string) => void, known: LogFields = {}): Logger {
  return {
    enabled: () => true,
    log: (level, message, fields) => add(`${level} ${message} ${inspect({ ...known, ...fields })}`),
    with: (fields) => logging(add, { ...known, ...fields }),
  }
}

import { join } from "node:path"
import { expect, onTestFailed, onTestFinished, test } from "vitest"
import { Cuts } from "../../chaos/cuts.js"
import { Relay } from "../../chaos/relay.js"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { Received } from "../../tools/received.js"
import type {
  Answer,
  EntitiesNodeCommands,
  EntitiesNodeEvent,
  EntitiesNodeOptions,
} from "./programs/entities-node.js"

const built = await compiledOnce({
  name: "sharding",
  config: "test/sharding/tsconfig.json",
  sources: ["src", "test/sharding/programs", "tools"],
})

const SHARDS = 12
const ids = Array.from({ length: 40 }, (_, at) => `entity ${at}`)

test("entities spread over processes, move when one joins or leaves, and survive one that is killed", async () => {
  const [a, b, c] = [await place("a"), await place("b"), await place("c")]
  const seeds = [a.address]
  await Promise.all([a.start(seeds), b.start(seeds)])
  await Promise.all([a, b].map((node) => node.untilMembers(2)))
  await Promise.all(ids.map((id) => a.call("ask", id)))
  await Promise.all([a, b].map((node) => node.untilHosts((count) => count > 0)))

  // One joins: no ask fails, and all count on.
  const asking = askAllTheTime([a, b])
  await c.start(seeds)
  await c.untilHosts((count) => count === SHARDS / 3)
  await asking.end()
  const answers = await Promise.all(ids.map((id) => c.call("ask", id)))
  expect(new Set(answers.map(({ pid }) => pid)).size).toBe(3)
  expect(answers.map(({ entity }) => entity)).toEqual(ids)

  // One is killed: the others take over its shards.
  await c.kill()
  await Promise.all([a, b].map((node) => node.untilMembers(2)))
  const after = await Promise.all(ids.map((id) => b.call("ask", id)))
  expect(new Set(after.map(({ pid }) => pid)).size).toBe(2)

  // One leaves: no ask fails, and the other one has them all.
  const last = askAllTheTime([a])
  expect(await b.stop(20_000)).toBe(true)
  await a.untilHosts((count) => count === SHARDS)
  await last.end()
  const alone = await Promise.all(ids.map((id) => a.call("ask", id)))
  expect(new Set(alone.map(({ pid }) => pid))).toEqual(new Set([a.pid]))
}, 120_000)

/** Asks all entities again and again, each question after the answer to the last one. Fails if an ask does. */
function askAllTheTime(nodes: readonly EntitiesNode[]) {
  let isOver = false
  const askers = nodes.map(async (node) => {
    const answers: Answer[] = []
    for (let at = 0; !isOver; at += 1) answers.push(await node.call("ask", ids[at % ids.length] as string))
    return answers
  })
  return {
    async end() {
      isOver = true
      for (const answers of await Promise.all(askers)) expect(answers.length).toBeGreaterThan(0)
    },
  }
}

/** An address that is known before its node listens: that of a relay. */
async function place(name: string): Promise<EntitiesNode> {
  const relay = await Relay.open(name, new Cuts(), () => "a node")
  onTestFinished(() => relay.close())
  return new EntitiesNode(name, relay)
}

class EntitiesNode extends NodeProcess<EntitiesNodeCommands, EntitiesNodeEvent> {
  readonly events = new Received<EntitiesNodeEvent>()
  readonly address: string
  readonly #relay: Relay

  constructor(name: string, relay: Relay) {
    super(name, {
      program: join(built, "test/sharding/programs/entities-node.js"),
      reported: (event) => {
        if (event.kind === "listening") relay.sendOnTo(event.port)
        this.events.add(event)
      },
      died: (problem) => this.events.end(new Error(problem)),
    })
    this.address = `127.0.0.1:${relay.port}`
    this.#relay = relay
    onTestFinished(() => this.kill())
    onTestFailed(() => {
      for (const event of this.events.items) console.log(`${name} ${JSON.stringify(event)}`)
    })
  }

  override async start(seeds: readonly string[]): Promise<void> {
    const timing = {
      gossipIntervalMs: 100,
      heartbeat: { intervalMs: 100, acceptablePauseMs: 700, firstEstimateMs: 200 },
      splitBrain: { stableAfterMs: 1_200 },
    }
    await super.start({ advertised: this.#relay.port, seeds, timing } satisfies EntitiesNodeOptions)
  }

  async untilMembers(count: number): Promise<void> {
    await this.events.until(`${this.name} sees ${count} members`, () => {
      return this.events.items.filter((event) => event.kind === "members").at(-1)?.count === count
    })
  }

  async untilHosts(isEnough: (count: number) => boolean): Promise<void> {
    await this.events.until(`${this.name} hosts its share`, () => {
      const latest = this.events.items.filter((event) => event.kind === "hosts").at(-1)
      return isEnough(latest?.shards.length ?? 0)
    })
  }
}

import { ActorSystem, consoleLogger, memoryStore } from "troupe"
import { type Life, noFaults, runSeed, type Stage, startSystem } from "troupe/sim"
import { expect, test } from "vitest"
import { follow, RENEW_EVERY_MS } from "./follow.js"
import { type Notice, Topic } from "./topic.js"

test("a topic on another node tells its subscribers, also after it was moved", async () => {
  const settings = {
    namespace: "news",
    listen: { host: "127.0.0.1", port: 0 },
    store: memoryStore(),
    logger: consoleLogger({ level: "error" }),
  }
  const first = await ActorSystem.start({ ...settings, actors: [Topic] })
  const front = await ActorSystem.start(settings)
  const inbox = new Inbox()
  const stop = await follow(front, { topic: "weather", name: "ada" }, inbox.put)
  const topic = front.actor(Topic, "weather")
  expect(await topic.publish("rain")).toBe(1)
  expect(await inbox.take()).toEqual({ topic: "weather", text: "rain" })

  const second = await ActorSystem.start({ ...settings, actors: [Topic] })
  await first.stop()
  expect(await topic.publish("sun")).toBe(1)
  expect(await inbox.take()).toEqual({ topic: "weather", text: "sun" })

  await stop()
  expect(await topic.publish("snow")).toBe(0)
  expect(inbox.isEmpty).toBe(true)
  await Promise.all([front.stop(), second.stop()])
})

test("a subscriber that was unreachable comes back, and one that died is dropped", async () => {
  const run = async (stage: Stage) => {
    const store = stage.store()
    const start = (life: Life, actors: (typeof Topic)[]) =>
      startSystem(life, {
        namespace: "news",
        listen: { host: life.host, port: 25_520, secret: "known-to-all-nodes" },
        store: store.provider(life),
        actors,
      })
    stage.start("host", () => {})
    stage.start("front", () => {})
    const host = await stage.on("host", (life) => start(life, [Topic]))
    const front = await stage.on("front", (life) => start(life, []))
    const publish = () => stage.on("host", () => host.actor(Topic, "weather").publish("rain"))
    await stage.on("front", () => follow(front, { topic: "weather", name: "ada" }, () => {}))
    expect(await publish()).toBe(1)

    const heal = [stage.cut("host", "front"), stage.cut("front", "host")]
    await stage.sleep(60_000)
    expect(await publish()).toBe(0)
    for (const one of heal) one()
    await stage.sleep(2 * RENEW_EVERY_MS)
    expect(await publish()).toBe(1)

    stage.crash("front")
    await stage.sleep(60_000)
    expect(await publish()).toBe(0)
  }
  const workload = { name: "subscriptions", about: "a subscriber that is lost", run }
  const { failure } = await runSeed(workload, 1, { faults: noFaults() })
  expect(failure).toBeUndefined()
})

/** Notices in the order in which they came. */
class Inbox {
  readonly #waiting: Notice[] = []
  #take: ((notice: Notice) => void) | undefined

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  readonly put = (notice: Notice): void => {
    if (this.#take === undefined) this.#waiting.push(notice)
    else this.#take(notice)
    this.#take = undefined
  }

  take(): Promise<Notice> {
    const next = this.#waiting.shift()
    if (next !== undefined) return Promise.resolve(next)
    return new Promise((resolve) => {
      this.#take = resolve
    })
  }
}

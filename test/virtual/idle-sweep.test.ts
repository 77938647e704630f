import { afterEach, beforeEach, expect, test } from "vitest"
import { Actor, ActorsLeftBehind, StoreUnavailableError } from "../../src/index.js"
import type { ClusterStore, StoreProvider } from "../../src/ports/store.js"
import { listAll } from "../../src/registry/list-all.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { settle } from "../fake/manual-clock.js"
import { Gate, scenes } from "./scene.js"

const scene = scenes()

/** Counts the hooks of the actors below: how many begin in one turn of the event loop, and run at a time. */
class Meter {
  begun = 0
  ended = 0
  mostAtOnce = 0
  mostInFlight = 0
  /** The promise that each hook awaits. */
  hold: Promise<void> | undefined
  readonly #waiters: { readonly isMet: () => boolean; readonly gate: Gate }[] = []
  #inThisTurn = 0
  #turns: NodeJS.Immediate

  constructor() {
    const turn = () => {
      this.#inThisTurn = 0
      this.#turns = setImmediate(turn)
    }
    this.#turns = setImmediate(turn)
  }

  async hook() {
    this.#inThisTurn += 1
    this.begun += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inThisTurn)
    this.mostInFlight = Math.max(this.mostInFlight, this.begun - this.ended)
    this.#check()
    await this.hold
    this.ended += 1
    this.#check()
  }

  async untilBegun(count: number) {
    await this.#until(() => this.begun >= count)
  }

  async untilEnded(count: number) {
    await this.#until(() => this.ended >= count)
  }

  stop() {
    clearImmediate(this.#turns)
  }

  #check() {
    for (const { isMet, gate } of this.#waiters) if (isMet()) gate.open()
  }

  async #until(isMet: () => boolean) {
    const gate = new Gate()
    this.#waiters.push({ isMet, gate })
    this.#check()
    await gate.promise
  }
}

let meter: Meter

beforeEach(() => {
  meter = new Meter()
})

afterEach(() => meter.stop())

class Guest extends Actor {
  static readonly type = "Guest"

  token() {
    return this.fencingToken
  }

  protected override onDeactivate() {
    return meter.hook()
  }
}

/** A store that can refuse or delay the releases of placements. */
class Registrar {
  store: ClusterStore | undefined
  refusesReleases = false
  refused = 0
  leftAtClose: number | undefined
  /** The promise that releases await, and how many do. */
  hold: Promise<void> | undefined
  held = 0

  provider(): StoreProvider {
    return {
      open: async (namespace, ports) => {
        const store = await memoryStore().open(namespace, ports)
        this.store = store
        return {
          identity: store.identity,
          get: (key) => store.get(key),
          list: (prefix, options) => store.list(prefix, options),
          watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
          close: async () => {
            this.leftAtClose = (await this.placements()).length
            await store.close()
          },
          commit: async (commit) => {
            const [write] = commit.writes
            if (this.refusesReleases && write?.kind === "delete" && write.key.startsWith("placements/")) {
              this.refused += 1
              throw new StoreUnavailableError("too many requests", "not-committed")
            }
            if (this.hold !== undefined && write?.kind === "delete" && write.key.startsWith("placements/")) {
              this.held += 1
              await this.hold
            }
            return store.commit(commit)
          },
        }
      },
    }
  }

  async placements(): Promise<readonly string[]> {
    const listing = await listAll(this.store as ClusterStore, "placements/")
    return listing.entries.map(({ key }) => key)
  }
}

async function crowd(count: number, settings = {}) {
  const registrar = new Registrar()
  const stage = await scene([Guest], { store: registrar.provider(), idleAfterMs: 8_000, ...settings })
  const keys = Array.from({ length: count }, (_, number) => `${number}`)
  await Promise.all(keys.map((key) => stage.system.actor(Guest, key).token()))
  expect(await registrar.placements()).toHaveLength(count)
  return { ...stage, registrar }
}

test("a sweep begins at most 64 deactivations per turn of the event loop, and leaves no placement behind", async () => {
  const { clock, registrar } = await crowd(1_000)
  await clock.advance(11_000)
  await meter.untilEnded(1_000)
  await settle()
  expect(meter.mostAtOnce).toBe(64)
  expect(await registrar.placements()).toEqual([])
})

test("a sweep has at most 256 deactivations in flight, and continues as they end", async () => {
  const hold = new Gate()
  meter.hold = hold.promise
  const { clock, registrar } = await crowd(600)
  await clock.advance(14_000)
  expect(meter.begun).toBe(256)
  hold.open()
  await meter.untilEnded(600)
  await settle()
  expect(meter.mostInFlight).toBe(256)
  expect(await registrar.placements()).toEqual([])
})

test("a deactivation is in flight until the store has confirmed its release, so the store is not flooded", async () => {
  const hold = new Gate()
  const { clock, registrar } = await crowd(600)
  registrar.hold = hold.promise
  await clock.advance(11_000)
  await meter.untilEnded(256)
  await clock.advance(1_000)
  expect(registrar.held).toBe(256)
  expect(meter.ended).toBe(256)
  hold.open()
  await meter.untilEnded(600)
  await settle()
  await settle()
  expect(await registrar.placements()).toEqual([])
})

test("an actor that is used after the sweep began, and before its deactivation, is kept", async () => {
  const hold = new Gate()
  meter.hold = hold.promise
  const { clock, system } = await crowd(300)
  const last = system.actor(Guest, "299")
  const before = await last.token()
  await clock.advance(11_000)
  expect(meter.begun).toBe(256)
  expect(await last.token()).toBe(before)
  hold.open()
  await meter.untilEnded(299)
  await settle()
  expect(meter.ended).toBe(299)
  expect(await last.token()).toBe(before)
})

test("a placement that could not be released is released later, even without a call", async () => {
  const { clock, registrar, log } = await crowd(300)
  registrar.refusesReleases = true
  await clock.advance(12_000)
  await meter.untilEnded(300)
  await settle()
  expect(await registrar.placements()).toHaveLength(300)
  expect(registrar.refused).toBeGreaterThanOrEqual(300)
  await clock.advance(20_000)
  const refused = registrar.refused
  registrar.refusesReleases = false
  await clock.advance(40_000)
  expect(await registrar.placements()).toEqual([])
  // The releases are retried with pauses, and not all of them each time.
  expect(refused).toBeLessThan(1_500)
  expect(log.filter((line) => line.includes("released"))).toHaveLength(1)
})

test("an actor that is called before the release is retried keeps its new placement", async () => {
  const { clock, system, registrar } = await crowd(1)
  registrar.refusesReleases = true
  await clock.advance(12_000)
  await meter.untilEnded(1)
  await settle()
  const token = await system.actor(Guest, "0").token()
  registrar.refusesReleases = false
  for (let round = 0; round < 10; round += 1) {
    await clock.advance(3_000)
    expect(await system.actor(Guest, "0").token()).toBe(token)
  }
  expect(await registrar.placements()).toEqual(["placements/Guest/0"])
})

test("a planned stop ends all actors without blocking the event loop", async () => {
  const { system, clock, registrar } = await crowd(3_000)
  const stopped = system.stop()
  await clock.advance(1_000)
  await stopped
  expect(registrar.leftAtClose).toBe(0)
  expect(meter.ended).toBe(3_000)
  expect(meter.mostAtOnce).toBeLessThanOrEqual(64)
})

test("a planned stop that exceeds its time reports how many actors it left behind, with a sample", async () => {
  const hold = new Gate()
  meter.hold = hold.promise
  const { system, clock, log, logFields } = await crowd(1_500, { drainMs: 2_000 })
  const heard: ActorsLeftBehind[] = []
  system.events.subscribe(ActorsLeftBehind, (event) => heard.push(event))
  const stopped = system.stop()
  await meter.untilBegun(1_024)
  await settle()
  expect(meter.begun).toBe(1_024)
  await clock.advance(5_000)
  await stopped
  expect(heard).toHaveLength(1)
  expect(heard[0]?.count).toBe(1_500)
  expect(heard[0]?.sample).toHaveLength(20)
  expect(heard[0]?.sample[0]?.type).toBe("Guest")
  const line = log.findIndex((one) => one.includes("left behind"))
  expect(logFields[line]).toMatchObject({ drainMs: 2_000, count: 1_500 })
  expect(logFields[line]?.["actors"]).toHaveLength(20)
  hold.open()
})

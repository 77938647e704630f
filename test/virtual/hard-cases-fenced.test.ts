import { describe, expect, it } from "vitest"
import {
  Actor,
  type ActorRef,
  Behaviors,
  FencedError,
  NodeRejoined,
  StoreUnavailableError,
} from "../../src/index.js"
import type { ClusterStore, StoreProvider } from "../../src/ports/store.js"
import { decodeRecord, encodeRecord, type NodeRecord } from "../../src/registry/node-record.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { DeactivationReason } from "../../src/virtual/actor.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import { ManualClock, settle } from "../fake/manual-clock.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"

const scene = scenes()

let steps: string[] = []
let gate = new Gate()

class Keeper extends Actor<{ count: number }> {
  static readonly type = "Keeper"

  protected override initialState() {
    return { count: 0 }
  }

  protected override onActivate() {
    steps.push("begins")
  }

  protected override onDeactivate(reason: DeactivationReason) {
    steps.push(`ends: ${reason}`)
  }

  async add() {
    this.state.count += 1
    await this.save()
    return this.state.count
  }

  addUnsaved() {
    steps.push("adds")
    this.state.count += 1
    return this.state.count
  }

  token() {
    return this.fencingToken
  }

  async wait() {
    this.signal.addEventListener("abort", () => steps.push("aborted"))
    await gate.promise
    steps.push("goes on")
    return "done"
  }

  async waitAndCall() {
    await gate.promise
    return await this.actor(Keeper, "other").add()
  }

  async waitAndSave() {
    await gate.promise
    await this.save()
  }

  async waitAndAsk(ref: ActorRef<ActorRef<string>>) {
    await gate.promise
    const error = await failureOf(this.ask<ActorRef<string>, string>(ref, (replyTo) => replyTo))
    steps.push(`${error.name} ${error.delivery}`)
    await this.save()
    return await this.ask<ActorRef<string>, string>(ref, (replyTo) => replyTo)
  }
}

class SlowStarter extends Actor {
  static readonly type = "SlowStarter"

  protected override async onActivate() {
    steps.push("starts")
    await gate.promise
    steps.push("has started")
  }

  ping() {
    return "pong"
  }
}

/** A store that can be made unavailable: its requests then fail without effect. */
class Fickle {
  isAway = false
  readonly #provider = memoryStore()
  #store: ClusterStore | undefined

  provider(): StoreProvider {
    return {
      open: async (namespace, ports) => {
        this.#store = await this.#provider.open(namespace, ports)
        return this.#wrapped(this.#store)
      },
    }
  }

  /** Ends all leases, as another node with access to the store would. */
  async endLeases(): Promise<void> {
    const store = this.#store as ClusterStore
    const [leases, nodes] = [await store.list("leases/"), await store.list("nodes/")]
    const writes = [...leases.entries, ...nodes.entries].map(({ key }) => ({ kind: "delete", key }) as const)
    await store.commit({ epoch: leases.epoch, conditions: [], writes })
    await settle()
  }

  /** Marks all nodes as down, as another node would: they are fenced, but keep their leases at first. */
  async declareDown(): Promise<void> {
    const store = this.#store as ClusterStore
    const { entries, epoch } = await store.list("nodes/")
    const writes = entries.map(({ key, value }) => {
      const down = { ...(decodeRecord(value) as NodeRecord), status: "down" } as const
      return { kind: "put", key, value: encodeRecord(down) } as const
    })
    await store.commit({ epoch, conditions: [], writes })
    await settle()
  }

  async leases(): Promise<readonly string[]> {
    return (await (this.#store as ClusterStore).list("leases/")).entries.map(({ key }) => key)
  }

  #wrapped(store: ClusterStore): ClusterStore {
    const here = () => {
      if (this.isAway) throw new StoreUnavailableError("the store is unavailable", "not-committed")
      return store
    }
    return {
      identity: store.identity,
      get: async (key) => here().get(key),
      list: async (prefix, options) => here().list(prefix, options),
      commit: async (commit) => here().commit(commit),
      watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
      close: () => store.close(),
    }
  }
}

async function fickle(actors: readonly ActorClass[] = [Keeper]) {
  steps = []
  gate = new Gate()
  const store = new Fickle()
  const world = await scene(actors, {
    store: store.provider(),
    lease: { ttlMs: 1_000, deathProof: false },
    requestTimeoutMs: 60_000,
  })
  return { store, ...world }
}

describe("a node that loses its lease", () => {
  it("aborts running turns, refuses their replies, and serves the next call from the store as a new incarnation", async () => {
    const { system, store, clock } = await fickle()
    const keeper = system.actor(Keeper, "k")
    const first = await keeper.token()
    await keeper.add()
    await keeper.addUnsaved()
    const rejoined: NodeRejoined[] = []
    system.events.subscribe(NodeRejoined, (event) => rejoined.push(event))
    const running = failureOf(keeper.wait())
    const behind = keeper.wait()
    await settle()
    store.isAway = true
    await clock.advance(1_000)
    expect(steps).not.toContain("aborted")
    await store.endLeases()
    expect(steps).toContain("aborted")
    const waiting = keeper.add()
    expect(await outcome(waiting)).toBe("pending")
    gate.open()
    await settle()
    expect(steps).toEqual(["begins", "adds", "aborted", "goes on", "ends: fenced"])
    expect(await running).toMatchObject({ code: "Fenced", delivery: "unknown" })
    store.isAway = false
    await clock.advance(5_000)
    system.events.flush()
    expect(rejoined).toHaveLength(1)
    expect(await waiting).toBe(2)
    expect(await keeper.token()).toBeGreaterThan(first)
    // The call had not begun, so the next incarnation has run it.
    expect(await behind).toBe("done")
  })

  it("does not give up its lease while an onActivate of that incarnation runs", async () => {
    const { system, store, clock } = await fickle([Keeper, SlowStarter])
    const [before] = await store.leases()
    const starting = system.actor(SlowStarter, "s").ping()
    await settle()
    expect(steps).toEqual(["starts"])
    await store.declareDown()
    await clock.advance(100)
    expect(await store.leases()).toContain(before)
    gate.open()
    await settle()
    expect(steps.slice(0, 2)).toEqual(["starts", "has started"])
    expect(await store.leases()).not.toContain(before)
    await clock.advance(5_000)
    expect(await starting).toBe("pong")
  })

  it.each([
    ["its reply", "wait"],
    ["its call", "waitAndCall"],
    ["its save", "waitAndSave"],
  ] as const)("holds back the effects of running turns: %s", async (_what, method) => {
    const { system, store, clock } = await fickle()
    const running = failureOf(system.actor(Keeper, "k")[method]())
    await settle()
    store.isAway = true
    await clock.advance(1_000)
    gate.open()
    // The node may not act, and does not know yet whether it ever may again.
    expect(await outcome(running)).toBe("pending")
    await store.endLeases()
    const error = await outcome(running)
    expect(error).toBeInstanceOf(FencedError)
    expect(error).toMatchObject({ delivery: "unknown", target: "test::Keeper/k" })
    store.isAway = false
    await clock.advance(5_000)
    expect(await system.actor(Keeper, "other").add()).toBe(1)
  })
})

describe("a node that did not renew its lease in time, before another node has ended it", () => {
  it("holds back all effects, starts no turns, and continues once the store answers", async () => {
    const { system, store, clock } = await fickle()
    const keeper = system.actor(Keeper, "k")
    const first = await keeper.token()
    await keeper.add()
    await keeper.addUnsaved()
    const running = [keeper.wait(), system.actor(Keeper, "other").waitAndSave()]
    const calling = system.actor(Keeper, "third").waitAndCall()
    await settle()
    store.isAway = true
    await clock.advance(30_000)
    gate.open()
    const waiting = [keeper.addUnsaved(), keeper.addUnsaved(), keeper.add()]
    await clock.advance(1_000)
    for (const one of [...running, calling, ...waiting]) expect(await outcome(one)).toBe("pending")
    store.isAway = false
    // Calls that were refused in the meantime are retried after a pause.
    await clock.advance(700)
    expect(await Promise.all(running)).toEqual(["done", undefined])
    expect(await calling).toBe(1)
    // The calls run in order, on the state in memory.
    expect(await Promise.all(waiting)).toEqual([3, 4, 5])
    expect(await keeper.token()).toBe(first)
    expect(steps.filter((step) => step === "aborted" || step.startsWith("ends"))).toEqual([])
  })
})

describe("a node that waits for its lease to be renewed", () => {
  it("refuses the asks of its actors until then", async () => {
    const { system, store, clock } = await fickle()
    const asked: object[] = []
    const ref = system.spawn(
      Behaviors.receive<ActorRef<string>>((_context, replyTo) => {
        asked.push(replyTo)
        replyTo.tell("here")
        return Behaviors.same
      }),
    )
    const asking = system.actor(Keeper, "k").waitAndAsk(ref)
    await settle()
    store.isAway = true
    await clock.advance(1_000)
    gate.open()
    expect(await outcome(asking)).toBe("pending")
    expect([steps, asked]).toEqual([["begins", "FencedError not-delivered"], []])
    store.isAway = false
    await clock.advance(400)
    expect([await asking, asked.length]).toEqual(["here", 1])
  })
})

describe("a machine that was suspended", () => {
  it("holds back all effects until its lease is renewed", async () => {
    const { system, store, clock } = await fickle()
    const keeper = system.actor(Keeper, "k")
    await keeper.add()
    await system.actor(Keeper, "other").token()
    const running = keeper.wait()
    await settle()
    store.isAway = true
    clock.jumpWall(950)
    gate.open()
    const waiting = keeper.addUnsaved()
    // This call waits only for the door of its actor.
    const other = system.actor(Keeper, "other").addUnsaved()
    expect(await outcome(running)).toBe("pending")
    expect(await outcome(waiting)).toBe("pending")
    expect(await outcome(other)).toBe("pending")
    expect(steps).not.toContain("adds")
    store.isAway = false
    await clock.advance(400)
    expect(await running).toBe("done")
    expect(await waiting).toBe(2)
    expect(await other).toBe(1)
  })
})

describe("a system that cannot join", () => {
  it("leaves no timer behind", async () => {
    const clock = new ManualClock()
    const store = new Fickle()
    store.isAway = true
    const logger = { enabled: () => false, log: () => {}, with: () => logger }
    const start = failureOf(
      ActorSystem.start(
        {
          namespace: "test",
          actors: [Keeper],
          store: store.provider(),
          joinMs: 1_000,
          lease: { deathProof: false },
        },
        nodePorts({ clock, logger }),
      ),
    )
    await clock.advance(10_000)
    expect(await start).toBeInstanceOf(StoreUnavailableError)
    await clock.advance(10_000)
    expect(clock.pendingTimers).toBe(0)
  })
})

import type { ClusterStore } from "../src/ports/store.js"
import {
  counter,
  type Life,
  ProcessDiedError,
  register,
  type Stage,
  type Workload,
} from "../src/sim/index.js"
import { drawStore } from "./cluster/draw-store.js"
import { storeFaults } from "./fault-sets.js"
import { idsOf, type Rules, StoreClient, text } from "./store/client.js"
import { CommitLog } from "./store/commit-log.js"
import { EpochLedger } from "./store/epoch-ledger.js"
import { Mirror } from "./store/mirror.js"
import { RevisionLedger } from "./store/revision-ledger.js"

/**
 * Clients on several machines use registers and counters on one store, under all that can happen to a store
 * and to the way there. What they saw has to be linearizable in each epoch; a counter counts every addition
 * once, also those whose answers were lost; and mirrors that watch the store miss nothing that they are not
 * told they missed.
 */
export function storeWith(rules: Partial<Pick<Rules, "resendsWhereAbsent">>, name: string): Workload {
  return {
    name,
    about: "registers, counters and watches on the simulated store, under every fault of it",
    faults: ["crash", "pause", "pause-in-call", "slow-network", "clock-drift", ...storeFaults],
    floors: { operations: 30, faults: 5 },
    limits: { virtualMs: 900_000 },
    async run(stage) {
      for (const place of places) stage.sometimes(place, false)
      const show = new Show(stage, { resendsWhereAbsent: false, ...rules, isDeleted })
      const machines = ["alpha", "beta", "gamma", "delta"].slice(0, stage.knob("clients", [2, 3, 4]))
      for (const machine of machines) stage.start(machine, (life) => show.enter(life))
      const rounds = stage.knob("rounds", [15, 40])
      const pauseMs = stage.knob("pauseMs", [10, 100, 1_000])
      await Promise.all(machines.map((machine) => play(stage, show, { machine, rounds, pauseMs })))
      stage.calm()
      // Until the last commit that is late has arrived.
      await stage.sleep(60_000)
      await show.judge(machines)
    },
  }
}

export const store = storeWith({}, "store")

// Under a prefix that can be watched.
const REGISTERS = ["wards/register-1", "wards/register-2", "wards/register-3"]
const COUNTERS = ["wards/counter-1", "wards/counter-2"]
const NAMESPACE = "workload"

function isDeleted(key: string): boolean {
  return REGISTERS.includes(key)
}

interface Part {
  readonly machine: string
  readonly rounds: number
  readonly pauseMs: number
}

async function play(stage: Stage, show: Show, { machine, rounds, pauseMs }: Part): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await stage.sleep(stage.random.between(0, pauseMs))
    const register = stage.random.pick(REGISTERS)
    const total = stage.random.pick(COUNTERS)
    const action = stage.random.pick<(client: StoreClient) => Promise<void>>([
      (client) => client.read(register),
      (client) => client.write(register),
      (client) => client.compareAndSet(register),
      (client) => client.compareAndSet(register),
      (client) => client.add(total),
      (client) => client.add(total),
      (client) => client.total(total),
    ])
    try {
      await stage.on(machine, async (life) => action(await show.clientOf(life)))
      stage.operation()
    } catch (error) {
      const { code } = error as { readonly code?: string }
      if (!(error instanceof ProcessDiedError) && code !== "StoreUnavailable") throw error
      stage.sometimes("a client is down, or dies in the middle", code === "ProcessDied")
    }
  }
}

class Show {
  readonly #stage: Stage
  readonly #store
  readonly #rules: Rules
  readonly #registers = new EpochLedger(register())
  readonly #counters = new EpochLedger(counter())
  readonly #log = new CommitLog()
  readonly #revisions: RevisionLedger
  /** By the name of their life. */
  readonly #handles = new Map<string, Promise<ClusterStore>>()
  readonly #clients = new Map<string, StoreClient>()
  readonly #mirrors = new Map<string, Mirror>()
  readonly #timeoutMs: number

  constructor(stage: Stage, rules: Rules) {
    this.#stage = stage
    this.#rules = rules
    this.#timeoutMs = stage.knob("timeoutMs", [500, 3_000])
    this.#revisions = new RevisionLedger(stage)
    this.#store = drawStore(stage, { keptCommits: stage.knob("keptCommits", [5, 1_000]) })
    this.#store.observe((event) => {
      this.#revisions.take(event)
      const { entries } = this.#store.list()
      this.#log.take(
        event,
        entries.map(({ key }) => key),
      )
      if (event.kind === "cut") return this.#beginEpoch(event.epoch)
      const isChange = event.result.kind === "committed" && event.isLate
      stage.sometimes("a commit takes effect after the client has given up", isChange)
      stage.sometimes(
        "a commit takes effect after its process has died",
        isChange && !this.#isAlive(event.by),
      )
    })
  }

  /** What a life does for as long as it lasts: it keeps a mirror. */
  async enter(life: Life): Promise<void> {
    const mirror = new Mirror(life, await this.#open(life), this.#log)
    this.#mirrors.set(life.name, mirror)
    await mirror.keep()
  }

  async clientOf(life: Life): Promise<StoreClient> {
    const store = await this.#open(life)
    const ledgers = { registers: this.#registers, counters: this.#counters, revisions: this.#revisions }
    const client = this.#clients.get(life.name) ?? new StoreClient(life, store, ledgers, this.#rules)
    this.#clients.set(life.name, client)
    return client
  }

  async judge(machines: readonly string[]): Promise<void> {
    const stage = this.#stage
    this.#readAll()
    for (const ledger of [this.#registers, this.#counters]) {
      const verdict = ledger.judge()
      stage.always("what clients saw is linearizable", verdict.kind === "linearizable", () =>
        verdict.kind === "violation" ? verdict.explanation.join("\n") : verdict.kind,
      )
      stage.sometimes("something stays unknown", ledger.unknown > 0)
    }
    const truth = this.#store
      .list()
      .entries.map((entry) => `${entry.key.slice(NAMESPACE.length + 1)}=${text(entry)}`)
      .join("; ")
    for (const machine of machines) {
      const seen = await stage.on(machine, ({ name }) => this.#mirrors.get(name)?.contents)
      stage.always(
        "mirrors have it all in the end",
        seen === truth,
        () => `${machine} has ${seen}, not ${truth}`,
      )
    }
  }

  /** One for each life, however often it takes to get one. */
  #open(life: Life): Promise<ClusterStore> {
    const known = this.#handles.get(life.name)
    if (known !== undefined) return known
    const open = async (): Promise<ClusterStore> => {
      for (;;) {
        try {
          return await this.#store.provider(life, { timeoutMs: this.#timeoutMs }).open(NAMESPACE, life.ports)
        } catch {
          life.sometimes("the store cannot be opened for now")
          await new Promise<void>((resolve) => {
            life.ports.clock.setTimer(100, resolve)
          })
        }
      }
    }
    const handle = open()
    this.#handles.set(life.name, handle)
    return handle
  }

  #beginEpoch(epoch: string): void {
    const entries = new Map(this.#store.list().entries.map((entry) => [entry.key, entry]))
    for (const key of REGISTERS) {
      const value = text(entries.get(`${NAMESPACE}/${key}`)) ?? null
      const operation = this.#registers.call("store", key, { kind: "write", value }, epoch)
      this.#registers.ok(operation, { kind: "written" })
    }
    for (const key of COUNTERS) {
      const amount = idsOf(entries.get(`${NAMESPACE}/${key}`)).length
      const operation = this.#counters.call("store", key, { kind: "add", amount }, epoch)
      this.#counters.ok(operation, { kind: "ack" })
    }
  }

  /** What is there in the end is part of what was seen. */
  #readAll(): void {
    const { epoch, entries } = this.#store.list()
    const found = new Map(entries.map((entry) => [entry.key, entry]))
    for (const key of REGISTERS) {
      const value = text(found.get(`${NAMESPACE}/${key}`)) ?? null
      const operation = this.#registers.call("store", key, { kind: "read" }, epoch)
      this.#registers.ok(operation, { kind: "value", value })
    }
    for (const key of COUNTERS) {
      const ids = idsOf(found.get(`${NAMESPACE}/${key}`))
      this.#stage.always("nothing is added twice", new Set(ids).size === ids.length, () => ids.join(" "))
      const operation = this.#counters.call("store", key, { kind: "read" }, epoch)
      this.#counters.ok(operation, { kind: "value", value: ids.length })
    }
  }

  #isAlive(life: string): boolean {
    const machine = life.split(".")[0] as string
    return (
      this.#stage.isUp(machine) &&
      [...this.#handles.keys()].findLast((name) => name.split(".")[0] === machine) === life
    )
  }
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "a commit is refused for now",
  "nobody knows whether a commit was made",
  "an answer is lost, and the commit is there",
  "a commit is sent again, and made",
  "a commit is sent again, and had been made",
  "a commit takes effect after the client has given up",
  "a commit takes effect after its process has died",
  "a commit for an old epoch is refused",
  "a compare-and-set comes too late",
  "a client is down, or dies in the middle",
  "the store cannot be opened for now",
  "something stays unknown",
  "a watch tells of a change",
  "a watch hears a gap",
  "a mirror sees an epoch end",
  "a watch repeats what a listing has shown",
  "a commit takes effect before one of a lower revision",
]

import fc from "fast-check"
import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import { PlacementCoordinator } from "./placement-coordinator.js"
import type { PlacementCommand, StepCommand, StepEvent, Topology } from "./placement-protocol.js"
import { random } from "./strategies.js"

test("for any events, each waiter is answered once, and each acquired placement is active here or released", () => {
  const reached = new Set<string>()
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 120, size: "max" }), (happenings) => {
      const play = new Play()
      for (const { kind, pick, outcome } of happenings) {
        play.happen(kind, pick, outcome)
        play.check()
      }
      play.answerAll()
      play.check()
      expect([...play.waiting]).toEqual([])
      expect(play.coordinator.snapshot().requests).toEqual([])
      expect([...play.taken.keys()].sort()).toEqual([...play.here.keys()].sort())
      for (const what of play.reached) reached.add(what)
    }),
    { numRuns: 250 },
  )
  expect([...reached].sort()).toEqual([
    "answered local",
    "answered refused",
    "answered remote",
    "did ensure-activation",
    "did look-up",
    "did release",
    "did try-acquire",
  ])
})

const kinds = [
  "resolve",
  "resolve",
  "resolve",
  "answer",
  "answer",
  "answer",
  "answer",
  "topology",
  "left",
  "stop",
  "suspend",
  "member",
  "member",
  "client",
  "learn",
  "passivate",
] as const

const happening = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(511),
  outcome: fc.nat(99),
})

/** A driver, store, cache and catalog with arbitrary permitted behaviour. */
class Play {
  readonly coordinator: PlacementCoordinator
  /** The waiters that the coordinator has not settled. */
  readonly waiting = new Set<number>()
  /** The placements that were claimed for this node and not released. */
  readonly taken = new Map<string, number>()
  readonly here = new Map<string, number>()
  readonly reached = new Set<string>()
  readonly #cache = new Map<string, Whereabouts>()
  readonly #open: StepCommand[] = []
  #revision = 100
  #version = 0
  #now = 0

  constructor() {
    let drawn = 0
    this.coordinator = new PlacementCoordinator({
      self: nodes[0],
      namespace: "ns",
      generationHere: (id) => this.here.get(id.toString()),
      cached: (id) => this.#cache.get(id.toString()),
      random: {
        uint32: () => {
          drawn += 1
          return (drawn * 2_654_435_761) % 2 ** 32
        },
      },
      strategyOf: () => random,
      mostWaiters: 7,
      mostEvents: 5,
    })
    this.happen("topology", 7, 0)
    this.happen("member", 0, 0)
  }

  happen(kind: (typeof kinds)[number], pick: number, outcome: number): void {
    this.#now += 1
    const { coordinator } = this
    const id = ids[pick % ids.length] as ActorId
    const node = nodes[outcome % nodes.length] as NodeId
    switch (kind) {
      case "resolve":
        return this.#resolve(id, outcome)
      case "answer":
        return this.#answer(pick, outcome)
      case "topology":
        this.#version += 1
        return this.#do(
          coordinator.handle(
            { kind: "topology-changed", topology: topologyOf(this.#version, pick) },
            this.#now,
          ),
        )
      case "left":
        return this.#do(coordinator.handle({ kind: "member-left", node }, this.#now))
      case "stop":
        return this.#do(coordinator.handle({ kind }, this.#now))
      case "suspend":
        return this.#do(coordinator.handle({ kind, because: "suspended by the test" }, this.#now))
      case "member":
      case "client":
        return this.#do(coordinator.handle({ kind: "start", as: kind }, this.#now))
      case "learn":
        this.#cache.set(id.toString(), this.#whereabouts(outcome))
        return
      case "passivate":
        return this.#passivate(id)
    }
  }

  answerAll(): void {
    for (let left = 1_000; this.#open.length > 0; left -= 1) {
      expect(left).toBeGreaterThan(0)
      this.#now += 1
      this.#answer(0, left)
    }
  }

  check(): void {
    const requests = this.coordinator.snapshot().requests
    expect(requests.reduce((sum, { waiters }) => sum + waiters, 0)).toBe(this.waiting.size)
    expect(new Set(requests.map(({ id }) => id.toString())).size).toBe(requests.length)
    expect(this.#open.length).toBeGreaterThanOrEqual(requests.length)
  }

  #resolve(id: ActorId, outcome: number): void {
    const node = nodes[outcome % nodes.length] as NodeId
    const options = outcome % 3 === 0 ? { here: true } : outcome % 3 === 1 ? { excluded: [node] } : {}
    const resolution = this.coordinator.resolve(id, this.#now, options)
    if (resolution.kind !== "pending") {
      this.reached.add(`answered ${resolution.kind}`)
      if (resolution.kind === "local") expect(this.here.get(id.toString())).toBe(resolution.generation)
      if (resolution.kind === "remote") expect(resolution.node.equals(nodes[0])).toBe(false)
      return
    }
    this.waiting.add(resolution.waiter)
    this.#do(resolution.commands)
  }

  #do(commands: readonly PlacementCommand[]): void {
    for (const command of commands) {
      if (command.kind === "settle") {
        expect(this.waiting.delete(command.waiter)).toBe(true)
        this.reached.add(`answered ${command.answer.kind}`)
        continue
      }
      this.reached.add(`did ${command.kind}`)
      expect(this.#open.some(({ request }) => request === command.request)).toBe(false)
      const rivals = this.#open.filter(({ kind, id }) => kind !== "look-up" && id.equals(command.id))
      expect(rivals).toEqual([])
      if (command.kind === "try-acquire") expect(this.here.has(command.id.toString())).toBe(false)
      this.#open.push(command)
    }
  }

  #answer(pick: number, outcome: number): void {
    const [command] = this.#open.splice(pick % Math.max(1, this.#open.length), 1)
    if (command !== undefined) this.#do(this.coordinator.handle(this.#carryOut(command, outcome), this.#now))
  }

  #carryOut(command: StepCommand, outcome: number): StepEvent {
    const { request, id } = command
    const key = id.toString()
    const isGood = outcome % 4 !== 0
    switch (command.kind) {
      case "look-up":
        return { kind: "looked-up", request, found: this.#found(outcome) }
      case "try-acquire": {
        if (isGood) {
          this.#revision += 1
          this.taken.set(key, this.#revision)
          const stateVersion = outcome % 5 === 1 ? 1 + (outcome % 3) : undefined
          return { kind: "acquired", request, generation: this.#revision, stateVersion }
        }
        const owner = { kind: "owned", node: nodes[1], generation: this.#revision } as const
        const because = outcome % 8 === 0 ? owner : ({ kind: "unavailable", detail: "gone" } as const)
        return { kind: "acquire-denied", request, because }
      }
      case "ensure-activation":
        expect(this.taken.get(key)).toBe(command.generation)
        if (!isGood) return { kind: "activation-failed", request, cause: "broken" }
        this.here.set(key, command.generation)
        return { kind: "activation-ready", request }
      case "release":
        if (this.here.get(key) === command.generation) this.here.delete(key)
        // A failed release leaves an orphan, which the next claim finds.
        if (this.taken.get(key) === command.generation) this.taken.delete(key)
        return isGood
          ? { kind: "released", request }
          : { kind: "release-failed", request, detail: "no answer" }
    }
  }

  #found(outcome: number) {
    if (outcome % 5 === 0) return { kind: "failed", detail: "no answer" } as const
    return this.#whereabouts(outcome)
  }

  #whereabouts(outcome: number): Whereabouts {
    this.#revision += 1
    if (outcome % 2 === 0) return { kind: "absent", revision: this.#revision }
    const node = nodes[outcome % nodes.length] as NodeId
    return { kind: "placed", node, generation: this.#revision }
  }

  #passivate(id: ActorId): void {
    const generation = this.here.get(id.toString())
    const isBusy = this.#open.some((command) => command.id.equals(id))
    if (generation === undefined || isBusy) return
    this.here.delete(id.toString())
    this.taken.delete(id.toString())
    this.coordinator.handle({ kind: "passivated", id, generation }, this.#now)
  }
}

/** Makes a topology whose nodes and hosts are given by the bits of `pick`. */
function topologyOf(version: number, pick: number): Topology {
  const there = nodes.filter((_node, at) => (pick >> at) % 2 === 1)
  const hosts = there.filter((_node, at) => (pick >> (at + 3)) % 2 === 0).map((node) => ({ node }))
  return {
    version,
    // The higher the version, the fewer nodes know it, and not this one.
    candidates: (_type, version = 0) => hosts.filter(({ node }) => nodes.indexOf(node) >= version),
    has: (node) => there.some((one) => one.equals(node)),
    isLeaving: (node) => there.some((one, at) => one.equals(node) && (pick >> (at + 6)) % 2 === 1),
  }
}

const nodes = [nodeNamed("a"), nodeNamed("b"), nodeNamed("c")] as const
const ids = ["x", "y"].map((key) => ActorId.of("ns", "T", key))

function nodeNamed(name: string): NodeId {
  return NodeId.of(name, 1, "0".repeat(16))
}

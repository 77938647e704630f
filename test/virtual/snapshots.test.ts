import { expect, test } from "vitest"
import { Actor, type ActorInspection, oneWay, type SystemSnapshot, TurnOverdue } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { settle } from "../fake/manual-clock.js"
import { startNode } from "../remote/nodes.js"
import { until } from "../remote/support/until.js"
import { failureOf, Gate, scenes } from "./scene.js"

const start = scenes()

let gate = new Gate()

class Room extends Actor<{ said: string[] }> {
  static readonly type = "Room"
  static readonly methods = { remember: { once: true } }

  protected override initialState() {
    return { said: [] as string[] }
  }

  protected override onActivate() {
    if (this.key === "broken") throw new RangeError("this room cannot open")
  }

  protected override onReminder() {}

  async say(text: string) {
    this.state.said.push(text)
    await this.save()
  }

  remember(text: string) {
    this.state.said.push(text)
    this.reminders.set("tidy", { at: new Date(4e12) })
  }

  async hold() {
    await gate.promise
  }

  fail() {
    throw new TypeError("not in this room")
  }

  leave() {
    this.deactivate()
  }

  pass(on: string) {
    return this.actor(Room, on).quiet()
  }

  quiet() {}
}

class Lobby extends Actor {
  static readonly type = "Lobby"

  enter(room: string) {
    return this.actor(Room, room).quiet()
  }
}

test("calls, turns and failures count by type and code, from the start of the system", async () => {
  const { system } = await start([Room])
  const before = system.snapshot()
  expect(before.counters).toMatchObject({ calls: 0, failedCalls: {}, deadLetters: 0, fenced: 0 })
  expect(before.types).toEqual([
    expect.objectContaining({ type: "Room", isHosted: true, turns: 0, activations: 0 }),
  ])
  await system.actor(Room, "a").say("hello")
  await system.actor(Room, "b").pass("a")
  await failureOf(system.actor(Room, "a").fail())
  await system.actor(Room, "b").leave()
  await settle()
  const { counters, types, life } = system.snapshot()
  // The call of a room to another one is a call of this system too.
  expect(counters).toMatchObject({ calls: 5, failedCalls: { TypeError: 1 } })
  expect(types).toEqual([
    expect.objectContaining({
      turns: 5,
      errors: { TypeError: 1 },
      activations: 1,
      ended: 1,
      waiting: 0,
      busy: 0,
    }),
  ])
  expect(life).toMatchObject({ phase: "member", isReady: true, reasons: [] })
})

test("what waits and what runs is shown with the chain of callers, and actors are named if asked for", async () => {
  gate = new Gate()
  const { system, clock } = await start([Room, Lobby])
  const room = system.actor(Room, "a")
  await room.quiet()
  const held = room.hold()
  const entering = system.actor(Lobby, "front").enter("a")
  await clock.advance(10)
  const { types, actors } = system.snapshot({ actors: 10 })
  expect(types.find(({ type }) => type === "Room")).toMatchObject({ waiting: 1, busy: 1 })
  expect(actors.map(({ type, key, isBusy, waiting }) => [type, key, isBusy, waiting])).toEqual([
    ["Room", "a", true, 1],
    ["Lobby", "front", true, 0],
  ])
  expect(system.snapshot({ actors: 1 }).actors).toHaveLength(1)
  expect(system.snapshot().actors).toEqual([])
  const { activation } = await system.inspect(Room, "a")
  expect(activation).toMatchObject({
    status: "valid",
    isBusy: true,
    writer: { method: "hold", chain: [], isOneWay: false },
    next: [{ method: "quiet", chain: ["Lobby/front"], isOneWay: false }],
  })
  gate.open()
  await Promise.all([held, entering])
})

test("a snapshot is plain data", async () => {
  const { system } = await start([Room])
  await system.actor(Room, "a").say("hello")
  await failureOf(system.actor(Room, "a").fail())
  const snapshot = system.snapshot({ actors: 10, watch: true })
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(withoutUndefined(snapshot))
  const inspection = await system.inspect("Room", "a", { state: true })
  expect(JSON.parse(JSON.stringify(inspection))).toEqual(withoutUndefined(inspection))
})

test("troubles are kept with their actors, by kind", async () => {
  const { system, clock } = await start([Room], { requestTimeoutMs: 1_000 })
  await failureOf(system.actor(Room, "a").fail())
  await failureOf(system.actor(Room, "broken").quiet())
  oneWay(system.actor(Room, "broken")).quiet()
  gate = new Gate()
  const overdue = failureOf(system.actor(Room, "a").hold())
  await clock.advance(2_000)
  expect(await overdue).toMatchObject({ code: "Timeout" })
  gate.open()
  const shown = system.snapshot().troubles.map(({ kind, actor, method, code }) => [kind, actor, method, code])
  expect(shown).toEqual([
    ["failed-turn", "Room/a", "fail", "TypeError"],
    ["overdue-turn", "Room/a", "hold", undefined],
    ["failed-start", "Room/broken", undefined, "RangeError"],
    ["failed-start", "Room/broken", undefined, "RangeError"],
    ["dead-letter", "test::Room/broken", "quiet", "unreachable"],
  ])
  const { troubles } = await system.inspect(Room, "broken")
  expect(troubles.map(({ kind, text }) => [kind, text])).toEqual([
    ["failed-start", "this room cannot open"],
    ["failed-start", "this room cannot open"],
  ])
  expect(system.snapshot().counters).toMatchObject({ overdueTurns: 1, failedStarts: 2, deadLetters: 1 })
})

test("an endless row of troubles keeps the latest, and their numbers", async () => {
  const { system } = await start([Room])
  for (let number = 0; number < 60; number += 1) await failureOf(system.actor(Room, "a").fail())
  const numbers = system.snapshot().troubles.map(({ number }) => number)
  expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([50, 11, 60])
})

test("a system is watched until a minute after the last snapshot that asked for it", async () => {
  const { system, clock } = await start([Room])
  await system.actor(Room, "a").quiet()
  expect(seen(system.snapshot({ watch: true }))).toEqual([[], []])
  await system.actor(Room, "b").say("hello")
  await clock.advance(40_000)
  const watched = system.snapshot({ watch: true })
  expect(seen(watched)).toEqual([
    expect.arrayContaining([
      expect.stringMatching(/^ActivationBecame Room\/b generation: \d+, state: valid$/),
    ]),
    ["turn Room/b.say", "call Room/b.say"],
  ])
  expect(watched.store?.saveTimes?.counts.reduce((sum, count) => sum + count, 0)).toBe(1)
  await clock.advance(59_000)
  expect(system.snapshot().spans).toHaveLength(2)
  expect(system.events.has(TurnOverdue)).toBe(true)
  await clock.advance(2_000)
  expect(seen(system.snapshot())).toEqual([[], []])
  expect(system.events.has(TurnOverdue)).toBe(false)
})

test("all nodes of a cluster answer for themselves, and one that does not is named", async () => {
  const store = memoryStore()
  const a = await startNode({ store, actors: [Lobby] })
  const b = await startNode({ store, actors: [Room] })
  await until("both see both", () => a.system.cluster.members.length === 2)
  await a.system.clusterSnapshot({ watch: true })
  await a.system.actor(Lobby, "front").enter("garden")
  const both = await a.system.clusterSnapshot({ watch: true, actors: 10 })
  expect(both.missing).toEqual([])
  expect(both.nodes.map(({ node }) => node)).toEqual([a.system.node?.toString(), b.system.node?.toString()])
  expect(both.nodes.map(({ actors }) => actors.map(({ type, key }) => `${type}/${key}`))).toEqual([
    ["Lobby/front"],
    ["Room/garden"],
  ])
  // One tree: the call from outside, the turn of the lobby, its call, and the turn on the other node.
  const spans = both.nodes.flatMap(({ spans }) => spans)
  expect(new Set(spans.map(({ trace }) => trace)).size).toBe(1)
  const pathOf = (id: string | undefined): string => {
    const span = spans.find((one) => one.span === id)
    return span === undefined ? "" : `${pathOf(span.parent)} > ${span.kind} ${span.actor}.${span.method}`
  }
  expect(
    spans
      .map(({ span }) => pathOf(span))
      .sort()
      .at(-1),
  ).toBe(
    " > call Lobby/front.enter > turn Lobby/front.enter > call Room/garden.quiet > turn Room/garden.quiet",
  )
  b.unplug()
  const alone = await a.system.clusterSnapshot({ timeoutMs: 200 })
  expect(alone.nodes.map(({ node }) => node)).toEqual([a.system.node?.toString()])
  expect(alone.missing).toEqual([{ node: b.system.node?.toString(), because: expect.stringMatching(/./) }])
})

test("an actor is inspected where it runs, and its state is hidden unless it is asked for", async () => {
  const store = memoryStore()
  const a = await startNode({ store, actors: [Lobby] })
  const b = await startNode({ store, actors: [Room] })
  await until("both see both", () => a.system.cluster.members.length === 2)
  await a.system.actor(Room, "garden").say("hello")
  const hidden = await a.system.inspect(Room, "garden")
  expect(hidden).toMatchObject({ node: b.system.node?.toString(), problems: [] })
  expect([hidden.activation?.state, hidden.stored?.state]).toEqual([undefined, undefined])
  const shown = await a.system.inspect(Room, "garden", { state: true })
  expect(shown.activation?.state?.json).toBe('{"said":["hello"]}')
  expect(shown.activation?.generation).toBeGreaterThan(0)
  expect(shown.stored).toMatchObject({ state: { json: '{"said":["hello"]}' }, reminders: [], outgoing: [] })
})

test("an idle actor is not started by looking at it, and the store says what it has", async () => {
  const { system, activation } = await start([Room])
  const room = system.actor(Room, "a")
  await room.remember("this")
  await room.leave()
  await settle()
  expect(activation("Room", "a")).toBeUndefined()
  const idle: ActorInspection = await system.inspect(Room, "a", { state: true })
  expect(idle.activation).toBeUndefined()
  expect(idle.stored).toMatchObject({
    state: { json: '{"said":["this"]}' },
    reminders: [{ name: "tidy", next: 4e12 }],
  })
  expect(activation("Room", "a")).toBeUndefined()
  expect(await system.inspect(Room, "nobody")).toMatchObject({ activation: undefined, stored: undefined })
  await expect(system.inspect(Room, "")).rejects.toMatchObject({ name: "ActorIdError" })
})

/** The events and the spans of a snapshot as text. */
function seen({ events, spans }: SystemSnapshot) {
  return [
    events.map(({ name, about, text }) => `${name} ${about} ${text}`),
    spans.map(({ kind, actor, method }) => `${kind} ${actor}.${method}`),
  ]
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== "object" || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutUndefined(field)]))
}

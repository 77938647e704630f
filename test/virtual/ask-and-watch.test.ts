import { expect, test } from "vitest"
import {
  Actor,
  type ActorRef,
  type ActorWatch,
  Behaviors,
  provide,
  type Terminated,
} from "../../src/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"
import { WatchedRef, watchersOf } from "./watched-ref.js"

const scene = scenes()

type Question = { readonly number: number; readonly replyTo: ActorRef<number> }

const doubling = Behaviors.receive<Question | "stop" | "fail">((_context, message) => {
  if (message === "stop") return Behaviors.stopped
  if (message === "fail") throw new RangeError("no more")
  message.replyTo.tell(message.number * 2)
  return Behaviors.same
})

const silent = Behaviors.receive<Question | "stop">((_context, message) =>
  message === "stop" ? Behaviors.stopped : Behaviors.same,
)

interface Desk {
  readonly refs: Map<string, ActorRef<never>>
  readonly seen: string[]
  gate?: Gate
}

class Asker extends Actor<unknown, Desk> {
  static readonly type = "Asker"
  static readonly methods = { peek: { alwaysInterleave: true } }
  #watch: ActorWatch | undefined

  protected override onActivate() {
    if (this.key === "eager") this.watchAll()
  }

  protected override onDeactivate() {
    if (this.key === "late") this.watchAll()
  }

  double(name: string, number: number, timeoutMs?: number) {
    const ref = this.dependencies.refs.get(name) as ActorRef<Question>
    const options = timeoutMs === undefined ? {} : { timeoutMs }
    return this.ask<Question, number>(ref, (replyTo) => ({ number, replyTo }), options)
  }

  async doubleLater(name: string, number: number) {
    await this.dependencies.gate?.promise
    return await this.double(name, number)
  }

  watchAll() {
    for (const [name, ref] of this.dependencies.refs) {
      this.#watch = this.watch(ref, (terminated) => this.#onTerminated(name, terminated))
    }
  }

  async watchAllLater() {
    await this.dependencies.gate?.promise
    this.watchAll()
  }

  cancel() {
    this.#watch?.cancel()
  }

  async hold() {
    this.dependencies.seen.push("holds")
    await this.dependencies.gate?.promise
    this.dependencies.seen.push("goes on")
  }

  peek() {
    return this.dependencies.seen.length
  }

  end() {
    this.deactivate()
  }

  #onTerminated(name: string, { ref, cause }: Terminated) {
    const isSame = ref === this.dependencies.refs.get(name)
    this.dependencies.seen.push(
      `${name} ended: ${(cause as Error | undefined)?.message ?? "stopped"} ${isSame}`,
    )
    if (cause instanceof SyntaxError) throw cause
  }
}

async function setUp(settings: Parameters<typeof scene>[1] = {}) {
  const desk: Desk = { refs: new Map(), seen: [] }
  const world = await scene([provide(Asker, desk)], settings)
  return { ...world, desk, asker: (key: string) => world.system.actor(Asker, key) }
}

test("an actor asks a ref, with the errors and timeouts of an ask", async () => {
  const { system, desk, asker, clock } = await setUp({ requestTimeoutMs: 5_000 })
  desk.refs.set("doubling", system.spawn(doubling))
  desk.refs.set("silent", system.spawn(silent))
  desk.refs.set("nobody", system.resolve("troupe://test/user/nobody"))
  expect(await asker("a").double("doubling", 21)).toBe(42)
  const late = failureOf(asker("a").double("silent", 1, 100))
  await clock.advance(200)
  expect(await late).toMatchObject({ name: "TimeoutError", delivery: "unknown" })
  expect(await failureOf(asker("a").double("nobody", 1))).toMatchObject({ name: "ActorStoppedError" })
  const stopped = failureOf(asker("a").double("silent", 1))
  await settle()
  ;(desk.refs.get("silent") as ActorRef<"stop">).tell("stop")
  expect(await stopped).toMatchObject({ name: "ActorStoppedError", delivery: "unknown" })
  expect(await failureOf(asker("a").double("doubling", 1, -1))).toMatchObject({ name: "RangeError" })
})

test("an activation that was superseded asks nothing; the next one does", async () => {
  const { system, desk, asker, activation } = await setUp()
  desk.refs.set("doubling", new WatchedRef() as ActorRef<never>)
  desk.gate = new Gate()
  const asking = failureOf(asker("a").doubleLater("doubling", 1))
  await settle()
  activation("Asker", "a")?.tenure.end("another activation has taken over")
  desk.gate.open()
  expect(await asking).toMatchObject({ name: "FencedError", delivery: "unknown" })
  expect((desk.refs.get("doubling") as unknown as WatchedRef).questions).toEqual([])
  desk.refs.set("doubling", system.spawn(doubling))
  expect(await asker("a").double("doubling", 4)).toBe(8)
})

test("the end of a watched actor is a turn of its own, with its cause", async () => {
  const { system, desk, asker } = await setUp()
  const ref = system.spawn(doubling)
  desk.refs.set("ref", ref)
  desk.gate = new Gate()
  await asker("a").watchAll()
  const holding = asker("a").hold()
  await settle()
  ref.tell("fail")
  await settle()
  // The actor runs one turn at a time; only what may interleave runs beside it.
  expect([await asker("a").peek(), desk.seen]).toEqual([1, ["holds"]])
  desk.gate.open()
  await holding
  await settle()
  expect(desk.seen).toEqual(["holds", "goes on", "ref ended: no more true"])
})

test("watching an actor that is gone reports its end at once, also from onActivate", async () => {
  const { system, desk, asker } = await setUp()
  desk.refs.set("nobody", system.resolve("troupe://test/user/nobody"))
  await asker("eager").peek()
  await settle()
  expect(desk.seen).toEqual(["nobody ended: stopped true"])
})

test("a task that fails is logged, and the actor continues", async () => {
  const { desk, asker, log, logFields } = await setUp()
  const ref = new WatchedRef()
  desk.refs.set("ref", ref)
  await asker("a").watchAll()
  const error = new SyntaxError("wrong")
  ref.end(error)
  await settle()
  expect(desk.seen).toEqual(["ref ended: wrong true"])
  const at = log.indexOf("error a watch of an actor failed")
  expect(logFields[at]).toEqual({ actor: "Asker/a", error })
  expect(await asker("a").peek()).toBe(1)
})

test("a cancelled watch reports nothing", async () => {
  const { system, desk, asker } = await setUp()
  const ref = system.spawn(doubling)
  const watching = watchersOf(ref)
  desk.refs.set("ref", ref)
  await asker("a").watchAll()
  expect(watching.size).toBe(1)
  await asker("a").cancel()
  expect(watching.size).toBe(0)
  await system.stopActor(ref)
  expect(desk.seen).toEqual([])
})

test("a watch does not keep an idle actor, and ends with it", async () => {
  const { system, desk, asker, clock, lives } = await setUp({ idleAfterMs: 1_000 })
  const ref = system.spawn(doubling)
  const watching = watchersOf(ref)
  desk.refs.set("ref", ref)
  await asker("a").watchAll()
  await clock.advance(3_000)
  expect(lives.at(-1)).toBe("a@1 invalid")
  expect(watching.size).toBe(0)
})

test("the task of a watch does not count as use of the actor", async () => {
  const { system, desk, asker, clock, lives } = await setUp({ idleAfterMs: 1_000 })
  desk.refs.set("ref", system.spawn(doubling))
  await asker("a").watchAll()
  await clock.advance(900)
  await system.stopActor(desk.refs.get("ref") as ActorRef<never>)
  await settle()
  expect([desk.seen.length, lives.at(-1)]).toEqual([1, "a@1 valid"])
  await clock.advance(500)
  expect(lives.at(-1)).toBe("a@1 invalid")
})

test.each(["is asked to end", "ends with its node", "is superseded", "watches as it ends"])(
  "an activation that %s leaves no watcher behind",
  async (how) => {
    const { system, desk, asker, activation } = await setUp()
    const ref = system.spawn(doubling)
    const watching = watchersOf(ref)
    desk.refs.set("ref", ref)
    const key = how === "watches as it ends" ? "late" : "a"
    if (key === "late") await asker(key).peek()
    else await asker(key).watchAll()
    expect(watching.size).toBe(key === "late" ? 0 : 1)
    if (how === "ends with its node") await ActorSystem.actorsOf(system)?.drain()
    else if (how === "is superseded") activation("Asker", key)?.tenure.end("superseded")
    else await asker(key).end()
    await settle()
    expect([activation("Asker", key), watching.size]).toEqual([undefined, 0])
    await system.stopActor(ref)
    expect(desk.seen).toEqual([])
  },
)

test("a turn that outlives its activation cannot watch", async () => {
  const { system, desk, asker, activation } = await setUp()
  const ref = system.spawn(doubling)
  const watching = watchersOf(ref)
  desk.refs.set("ref", ref)
  desk.gate = new Gate()
  const lingering = failureOf(asker("a").watchAllLater())
  await settle()
  activation("Asker", "a")?.tenure.end("superseded")
  desk.gate.open()
  expect(await lingering).toMatchObject({ name: "FencedError" })
  expect(watching.size).toBe(0)
})

test("what waits behind the task of a watch says so when it times out", async () => {
  class Slow extends Actor<unknown, Desk> {
    static readonly type = "Slow"

    begin() {
      this.watch(this.dependencies.refs.get("ref") as ActorRef<never>, () => this.dependencies.gate?.promise)
    }
  }
  const desk: Desk = { refs: new Map(), seen: [], gate: new Gate() }
  const { system, clock } = await scene([provide(Slow, desk)], { requestTimeoutMs: 1_000 })
  const ref = new WatchedRef()
  desk.refs.set("ref", ref as ActorRef<never>)
  await system.actor(Slow, "s").begin()
  ref.end()
  await settle()
  const late = failureOf(system.actor(Slow, "s").begin())
  await clock.advance(1_100)
  expect((await late).message).toContain("the actor was busy with a watch")
  expect(await outcome((desk.gate as Gate).promise)).toBe("pending")
  desk.gate?.open()
  await settle()
})

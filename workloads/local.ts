import {
  type ActorRef,
  type ActorSystem,
  type Behavior,
  Behaviors,
  DeadLetter,
  Terminated,
} from "../src/index.js"
import { type Life, type Stage, startSystem, type Workload } from "../src/sim/index.js"

/**
 * Actors of one process each, under pauses and crashes: supervised workers that are told numbered messages,
 * asked questions, made to fail, watched and stopped. Within one life of a process nothing may be lost,
 * doubled or out of order.
 */
export const local: Workload = {
  name: "local",
  about: "local actors: supervision, asks and death watch, under pauses and crashes",
  faults: ["crash", "pause", "pause-in-call", "clock-drift", "clock-jump"],
  floors: { operations: 50, faults: 0.5 },
  async run(stage) {
    addInvariants(stage)
    const machines = ["alpha", "beta"]
    for (const name of machines) stage.start(name, () => {})
    const rounds = stage.knob("rounds", [5, 10, 20])
    for (let round = 0; round < rounds; round += 1) {
      const machine = stage.random.pick(machines)
      const seed = stage.random.uint32()
      try {
        const done = await stage.on(machine, (life) => playRound(life, seed))
        stage.operation(done)
        stage.sometimes("a round ends")
      } catch {
        stage.sometimes("a process dies in a round")
      }
      await stage.sleep(stage.random.between(0, 500))
    }
  },
}

type Command =
  | { readonly kind: "note"; readonly from: string; readonly number: number }
  | { readonly kind: "fail" }
  | { readonly kind: "double"; readonly value: number; readonly replyTo: ActorRef<number> }
  | { readonly kind: "stop" }

/** One life of a system: everything that it is told is accounted for before it is over. */
async function playRound(life: Life, seed: number): Promise<number> {
  const { random } = life.ports
  const draw = (below: number) => (random.uint32() + seed) % below
  const run = `${life.name}/${seed}`
  const system = await startSystem(life, { namespace: "local", drainMs: 60_000 })
  system.events.subscribe(DeadLetter, ({ message }) => {
    const command = message as Command
    if (command.kind === "note")
      life.record({ kind: "undelivered", run, from: command.from, number: command.number })
  })
  const workers = Array.from({ length: 1 + draw(4) }, (_, index) =>
    system.spawn(worker(life, run, index, draw(2) === 0), `worker-${index}`),
  )
  const watcher = system.spawn(watching(life, run, workers), "watcher")
  const asks: Promise<void>[] = []
  const commands = 20 + draw(60)
  for (let number = 0; number < commands; number += 1) {
    const target = draw(workers.length)
    const ref = workers[target] as ActorRef<Command>
    switch (draw(12)) {
      case 0:
        ref.tell({ kind: "fail" })
        break
      case 1:
      case 2:
      case 3:
        asks.push(askOnce(life, system, run, `${number}`, ref, number))
        break
      case 4:
        await new Promise<void>((resolve) => life.ports.clock.setTimer(draw(50), resolve))
        break
      case 5:
        if (draw(10) === 0) ref.tell({ kind: "stop" })
        break
      default:
        life.record({ kind: "told", run, to: target, from: run, number })
        ref.tell({ kind: "note", from: `${run}>${target}`, number })
    }
  }
  await Promise.all(asks)
  await Promise.all(workers.map((ref) => system.stopActor(ref)))
  await system.stopActor(watcher)
  await system.stop()
  life.record({ kind: "over", run })
  return commands
}

async function askOnce(
  life: Life,
  system: ActorSystem,
  run: string,
  id: string,
  ref: ActorRef<Command>,
  value: number,
): Promise<void> {
  life.record({ kind: "asked", run, id })
  try {
    const answer = await system.ask<Command, number>(ref, (replyTo) => ({ kind: "double", value, replyTo }), {
      timeoutMs: 1_000,
    })
    life.always("an answer is the right one", answer === value * 2, () => `${answer} for ${value}`)
    life.record({ kind: "answered", run, id })
    life.sometimes("an ask is answered")
  } catch (error) {
    life.record({ kind: "answered", run, id })
    life.sometimes(`an ask fails: ${(error as { code: string }).code}`)
  }
}

/** A worker may be slow, fails when told to, and never runs two turns at once. */
function worker(life: Life, run: string, index: number, slow: boolean): Behavior<Command> {
  const behavior = Behaviors.setup<Command>(() => {
    const wait = () => new Promise<void>((resolve) => life.ports.clock.setTimer(5, resolve))
    return Behaviors.receive<Command>(async (_context, command) => {
      life.record({ kind: "enter", run, actor: index })
      if (slow) await wait()
      life.record({ kind: "leave", run, actor: index })
      switch (command.kind) {
        case "note":
          life.record({ kind: "handled", run, actor: index, from: command.from, number: command.number })
          return Behaviors.same
        case "double":
          command.replyTo.tell(command.value * 2)
          return Behaviors.same
        case "stop":
          return Behaviors.stopped
        case "fail":
          throw new Error("told to fail")
      }
    })
  })
  return Behaviors.supervise(behavior, {
    strategy: index % 3 === 2 ? "resume" : "restart",
    limit: { restarts: 3, withinMs: 1_000 },
    backoff: { fromMs: 1, toMs: 20 },
  })
}

function watching(life: Life, run: string, refs: readonly ActorRef<never>[]): Behavior<never> {
  return Behaviors.setup((context) => {
    for (const ref of refs) context.watch(ref)
    return Behaviors.receive(
      () => Behaviors.same,
      (_context, signal) => {
        if (signal instanceof Terminated) {
          life.record({ kind: "terminated", run, actor: refs.indexOf(signal.ref) })
          life.sometimes("a watched actor is seen to stop")
        }
        return Behaviors.same
      },
    )
  })
}

interface LocalEvent {
  readonly kind: string
  readonly run: string
  readonly actor: number
  readonly id: string
  readonly from: string
  readonly number: number
}

function addInvariants(stage: Stage): void {
  const inside = new Set<string>()
  stage.invariant<LocalEvent>("one turn at a time", ({ kind, run, actor }) => {
    const key = `${run} ${actor}`
    if (kind === "leave") return inside.delete(key) ? undefined : `${key} left a turn that it was not in`
    if (kind !== "enter") return false
    if (inside.has(key)) return `${key} has two turns at once`
    inside.add(key)
    return undefined
  })

  const last = new Map<string, number>()
  stage.invariant<LocalEvent>("order is kept for each sender and receiver", ({ kind, from, number }) => {
    if (kind !== "handled") return false
    const before = last.get(from) ?? -1
    last.set(from, number)
    return number > before ? undefined : `${from}: ${number} after ${before}`
  })

  const open = new Map<string, Set<string>>()
  stage.invariant<LocalEvent>("every ask ends exactly once", ({ kind, run, id }) => {
    const asks = open.get(run) ?? new Set()
    open.set(run, asks)
    if (kind === "asked") asks.add(id)
    else if (kind === "answered") return asks.delete(id) ? undefined : `${run}: ask ${id} ended twice`
    else if (kind === "over") return asks.size === 0 ? undefined : `${run}: ${asks.size} asks never ended`
    else return false
    return undefined
  })

  const told = new Map<string, number>()
  stage.invariant<LocalEvent>("every message is handled or in dead letters", ({ kind, run }) => {
    const balance = told.get(run) ?? 0
    if (kind === "told") told.set(run, balance + 1)
    else if (kind === "handled" || kind === "undelivered") told.set(run, balance - 1)
    else if (kind === "over") return balance === 0 ? undefined : `${run}: ${balance} messages are nowhere`
    else return false
    return undefined
  })

  const gone = new Set<string>()
  stage.invariant<LocalEvent>(
    "a watched actor's end is told once, and it is the end",
    ({ kind, run, actor }) => {
      const key = `${run} ${actor}`
      if (kind === "enter") return gone.has(key) ? `${key} was said to be gone, and has a turn` : undefined
      if (kind !== "terminated") return false
      if (gone.has(key)) return `${key} was said to be gone twice`
      gone.add(key)
      return undefined
    },
  )
}

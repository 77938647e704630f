import { randomInt, randomUUID } from "node:crypto"
import { setTimeout as wait } from "node:timers/promises"
import { type ActorRef, Behaviors } from "../../src/index.js"
import type { Connection } from "../../src/ports/network.js"
import { allFaults, type Life, runSeed, type SimStore, type Workload } from "../../src/sim/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"

const machines = ["alpha", "beta", "gamma"]

/**
 * Uses a little of everything that a world has, so that anything that is not drawn from the seed shows in the
 * trace: echoes between three machines, a store, threads, actors, timers, and the clocks and random functions of the
 * globals, each of which logs its results.
 */
export const everything: Workload = {
  name: "everything",
  about: "echoes, actors and globals, to compare runs with",
  async run(stage) {
    const store = stage.store()
    for (const name of machines) {
      stage.start(name, (life) => {
        void countOnStore(life, store)
        keepThread(life, store)
        return chatter(life)
      })
    }
    for (let round = 0; round < 12; round += 1) {
      const machine = stage.random.pick(machines)
      try {
        stage.note(`answer ${await stage.on(machine, (life) => countWithActors(life))}`)
        stage.operation()
      } catch (error) {
        stage.note(`no answer: ${(error as { code: string }).code}`)
      }
      await stage.sleep(stage.random.between(0, 2_000))
    }
    stage.calm()
    await stage.sleep(1_000)
  },
}

/** The hash and the trace of one run. */
export async function tracedRun(seed: number): Promise<{ readonly hash: string; readonly lines: string[] }> {
  const lines: string[] = []
  const { hash, failure } = await runSeed(everything, seed, {
    faults: allFaults(),
    onTrace: (line) => lines.push(line),
  })
  if (failure !== undefined) throw new Error(`seed ${seed}: ${failure.what}: ${failure.detail}`)
  return { hash, lines }
}

/** Serves echoes, and requests some from the others, for as long as the process lives. */
async function chatter(life: Life): Promise<void> {
  const say = (what: string) => life.ports.logger.log("info", what)
  say(`begins at ${Date.now()} ${new Date().toISOString()} ${performance.now()} as ${randomUUID()}`)
  setInterval(() => say(`tick ${process.hrtime.bigint()} ${Math.random()}`), 500)
  setImmediate(() => say(`immediate ${crypto.getRandomValues(new Uint32Array(2)).join()}`))
  process.nextTick(() => say("next tick"))
  AbortSignal.timeout(750).addEventListener("abort", () => say("aborted"))
  await life.ports.network.listen({ host: life.host, port: 7_000 }, (connection) => echo(connection, say))
  for (;;) {
    await wait(randomInt(300))
    await converse(life, `10.0.0.${2 + Math.floor(Math.random() * machines.length)}`, say)
  }
}

function echo(connection: Connection, say: (what: string) => void): void {
  connection.attach({
    data: (chunk) => {
      if (connection.write(chunk)) return
      connection.pause()
      say("full")
    },
    drained: () => connection.resume(),
    ended: () => connection.end(),
    closed: ({ kind }) => say(`served: ${kind}`),
  })
}

async function converse(life: Life, host: string, say: (what: string) => void): Promise<void> {
  const signal = AbortSignal.timeout(2_000)
  let connection: Connection
  try {
    connection = await life.ports.network.connect({ host, port: 7_000 }, { timeoutMs: 1_500, signal })
  } catch (error) {
    say(`${host} ${(error as { code: string }).code}`)
    return
  }
  const sent = life.ports.random.bytes(1 + randomInt(Math.random() < 0.1 ? 200_000 : 2_000))
  let sum = 0
  let received = 0
  await new Promise<void>((resolve) => {
    const deadline = setTimeout(() => connection.destroy(), 3_000)
    connection.attach({
      data: (chunk) => {
        received += chunk.length
        for (const byte of chunk) sum = (sum * 31 + byte) % 1_000_003
      },
      drained: () => say("drained"),
      ended: () => say("ended"),
      closed: (reason) => {
        clearTimeout(deadline)
        say(`${host} ${reason.kind} after ${received} of ${sent.length} bytes, ${sum}`)
        resolve()
      },
    })
    connection.write(sent)
    if (Math.random() < 0.7) connection.end()
  })
}

/** Has a thread that opens the store, and logs what it says; starts another one if it dies. */
function keepThread(life: Life, shared: SimStore): void {
  const say = (what: string) => life.ports.logger.log("info", what)
  const { inThread } = shared.provider(life)
  if (inThread === undefined) throw new Error("a simulated store cannot be opened in a thread")
  const thread = life.ports.threads?.startRenewal(
    { ...inThread, namespace: "everything" },
    {
      received: (message) => say(`thread: ${JSON.stringify(message)}`),
      ended: () => {
        say("the thread has ended")
        keepThread(life, shared)
      },
    },
  )
  thread?.post({ kind: "begin", identity: shared.state.identity })
}

/** Adds to a number, and logs the changes of the others that it receives. */
async function countOnStore(life: Life, shared: SimStore): Promise<void> {
  const say = (what: string) => life.ports.logger.log("info", what)
  const key = "nodes/count"
  for (;;) {
    try {
      const store = await shared.provider(life, { timeoutMs: 500 }).open("everything", life.ports)
      store.watch("nodes/", await store.list("nodes/"), {
        changed: (changes) => say(`told of ${changes.map(({ revision }) => revision).join()}`),
        gap: () => say("gap"),
      })
      for (;;) {
        await wait(randomInt(300))
        const { epoch, entry } = await store.get(key)
        const condition =
          entry === undefined
            ? ({ kind: "absent", key } as const)
            : ({ kind: "at", key, revision: entry.revision } as const)
        const value = life.ports.random.bytes(4)
        const { kind } = await store.commit({
          epoch,
          conditions: [condition],
          writes: [{ kind: "put", key, value }],
        })
        say(`${kind} ${entry?.revision} ${entry?.value.join()}`)
      }
    } catch (error) {
      say(`store: ${(error as { commitment: string }).commitment}`)
      await wait(100)
    }
  }
}

type Count = { readonly add: number } | { readonly replyTo: ActorRef<number> }

async function countWithActors(life: Life): Promise<string> {
  const system = await ActorSystem.start({ namespace: "everything" }, life.ports)
  const counter = Behaviors.setup<Count>(() => {
    let sum = 0
    return Behaviors.receive(async (_context, message) => {
      if ("replyTo" in message) {
        message.replyTo.tell(sum)
        return Behaviors.same
      }
      if (message.add % 5 === 0) await wait(message.add)
      if (message.add === 13) throw new Error("thirteen")
      sum += message.add
      return Behaviors.same
    })
  })
  const ref = system.spawn(
    Behaviors.supervise(counter, { strategy: "restart", backoff: { fromMs: 1, toMs: 10 } }),
    "counter",
  )
  for (let told = 0; told < 20; told += 1) ref.tell({ add: randomInt(40) })
  const sum = await system.ask<Count, number>(ref, (replyTo) => ({ replyTo }), { timeoutMs: 1_000 })
  await system.stop()
  return `${sum} ${system.address.toString()}`
}

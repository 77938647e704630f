import { expect, test } from "vitest"
import {
  ActivationError,
  Actor,
  type ActorSystem,
  type ActorSystemSettings,
  binaryCodec,
  jsonCodec,
  type StateError,
  withOptions,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"
import { failureOf } from "./scene.js"

/** Everything that an actor stores: its state, answers, messages, reminders, and what a receiver threw. */
class Ledger extends Actor<{ lines: string[]; padding?: string }> {
  static readonly type = "Ledger"
  static readonly methods = {
    add: { once: true },
    tell: { once: true },
    refuse: { once: true },
    remind: { once: true },
  }

  protected override initialState() {
    return { lines: [] as string[] }
  }

  add(line: string, answer = "") {
    this.state.lines.push(line)
    return { lines: [...this.state.lines], answer }
  }

  pad(bytes: number) {
    this.state.padding = "x".repeat(bytes)
    return this.save()
  }

  tell(to: string, line: string) {
    this.eventually(this.actor(Ledger, to)).add(line)
  }

  refuse(to: string) {
    this.eventually(this.actor(Ledger, to)).throws("an argument")
  }

  throws(_argument: string): never {
    throw new RangeError("it was refused")
  }

  protected override onUndelivered({ args, error }: { args: readonly unknown[]; error: unknown }) {
    this.state.lines.push(`undelivered ${args} ${(error as Error).message}`)
  }

  remind(ms: number, argument: string, name = "line") {
    this.reminders.set(name, { at: new Date(Date.now() + ms) }, { argument })
  }

  protected override onReminder({ argument }: { argument: unknown }) {
    this.state.lines.push(`reminded ${(argument as { argument: string }).argument}`)
  }

  lines() {
    return [...this.state.lines, `padding ${this.state.padding?.length ?? 0}`]
  }

  end() {
    this.deactivate()
  }
}

class Throwing extends Ledger {
  static override readonly type = "Ledger"
  static override readonly methods = { ...Ledger.methods, throws: { once: true } } as never
}

type Codecs = NonNullable<ActorSystemSettings["stateCodecs"]>

const [binary, json] = [binaryCodec(), jsonCodec()]

/** The nodes of a cluster whose codec changes in two rollouts, and back. */
const ROLLOUTS: readonly (Codecs | undefined)[] = [
  undefined,
  { read: [json] },
  { write: json },
  { write: json, read: [binary] },
  { read: [json] },
]

/** Replaces the node by one with other codecs; what is stored is read by the next. */
async function replaced(scene: Scene, at: number): Promise<string> {
  const stateCodecs = ROLLOUTS[at]
  const name = `node ${at}`
  await scene.start(name, [Throwing], stateCodecs === undefined ? {} : { stateCodecs })
  await scene.sleep(2_000)
  if (at > 0) await scene.stop(`node ${at - 1}`)
  await scene.sleep(2_000)
  return name
}

const ledgerOf = (system: ActorSystem, key: string) => system.actor<Ledger>("Ledger", key)

test("what was stored in a codec is read by every later rollout", async () => {
  await play(async (scene) => {
    for (const at of ROLLOUTS.keys()) {
      const node = await replaced(scene, at)
      await scene.on(node, async (system) => {
        const ledger = ledgerOf(system, "a")
        // Answers of named operations are in rows.
        for (let before = 0; before < at; before += 1) {
          const repeated = withOptions(ledger, { operation: `order ${before}` }).add(`line ${before}`, "ok")
          expect((await repeated).answer).toBe("ok")
        }
        await withOptions(ledger, { operation: `order ${at}` }).add(`line ${at}`, "ok")
        // One is in the head of the state, and one in a row. They fire on a later node.
        await ledger.remind(6_000, `${at}`, `short ${at}`)
        await ledger.remind(6_500, `${at}`.padEnd(3_000, "."), `long ${at}`)
        await ledger.refuse("b")
        await ledger.tell("b", `told ${at}`)
        if (at === 1) await ledger.pad(40_000)
        await ledger.end()
      })
    }
    await scene.sleep(120_000)
    const lines = await scene.on(`node ${ROLLOUTS.length - 1}`, async (system) => {
      await ledgerOf(system, "a").end()
      return ledgerOf(system, "a").lines()
    })
    const all = [...ROLLOUTS.keys()].map(String)
    expect(lines.filter((line) => line.startsWith("line"))).toEqual(all.map((at) => `line ${at}`))
    const reminded = lines.filter((line) => line.startsWith("reminded"))
    expect(reminded.map((line) => line.replaceAll(".", "").slice(9)).sort()).toEqual(
      all.flatMap((at) => [at, at]),
    )
    expect(lines.filter((line) => line.startsWith("undelivered"))).toHaveLength(ROLLOUTS.length)
    expect(lines.at(-1)).toBe("padding 40000")
    const told = await scene.on(`node ${ROLLOUTS.length - 1}`, (system) => ledgerOf(system, "b").lines())
    expect(told).toEqual([...ROLLOUTS.map((_, at) => `told ${at}`), "padding 0"])
  })
})

test("a state whose codec is not read is an error that says what to add", async () => {
  await play(async (scene) => {
    await scene.start("new", [Ledger], { stateCodecs: { write: json } })
    await scene.on("new", (system) => ledgerOf(system, "a").add("line"))
    await scene.stop("new")
    await scene.start("old", [Ledger])
    await scene.sleep(2_000)
    const error = await scene.on("old", (system) => failureOf(ledgerOf(system, "a").lines()))
    expect(error).toBeInstanceOf(ActivationError)
    expect((error.cause as StateError).problem).toBe("unreadable")
    expect((error.cause as StateError).message).toContain("add that codec to stateCodecs.read")
  })
})

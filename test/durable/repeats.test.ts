import { describe, expect, test } from "vitest"
import {
  Actor,
  type ActorHandle,
  type ActorSystemSettings,
  oneWay,
  rendezvous,
  sharded,
  TimeoutError,
  withOptions,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

interface State {
  applied: string[]
}

class Vault extends Actor<State> {
  static readonly type: string = "Vault"
  static readonly once = true
  static readonly methods = { list: { readOnly: true }, plain: { once: false } }

  protected override initialState(): State {
    return { applied: [] }
  }

  put(what: string, answer = 0) {
    this.state.applied.push(what)
    return `${this.state.applied.length}${"x".repeat(answer)}`
  }

  async pass(to: string, what: string) {
    const vault = this.actor(Vault, to)
    const first = await vault.put(`${what}-1`)
    const second = await vault.put(`${what}-2`)
    this.state.applied.push(what)
    return [first, second]
  }

  names() {
    return this.operation
  }

  plain() {
    return this.operation ?? "none"
  }

  list() {
    return this.state.applied
  }
}

class Sharded extends Vault {
  static override readonly type = "Sharded"
  static readonly placement = sharded({ shards: 4 })
}

const settings: Partial<ActorSystemSettings> = { lease: { ttlMs: 2_000, deathProof: false } }

async function startAll(scene: Scene, type: typeof Vault): Promise<void> {
  for (const machine of ["a", "b", "c"]) await scene.start(machine, [type], settings)
  await scene.sleep(4_000)
}

/** The node that writes the states of the actor. */
function watchWriter(scene: Scene, onCommit: (by: string) => void): { readonly stop: () => void } {
  let isOn = true
  scene.stage.store().observe((event) => {
    if (!isOn || event.kind !== "judged" || event.result.kind !== "committed") return
    if (!event.commit.writes.some(({ key }) => key.startsWith("shards/state/"))) return
    onCommit(event.by)
  })
  return {
    stop: () => {
      isOn = false
    },
  }
}

async function writerOf(scene: Scene, type: typeof Vault): Promise<string> {
  let writer = ""
  const { stop } = watchWriter(scene, (by) => {
    writer = by.split(/[.+]/)[0] as string
  })
  await scene.on("a", (system) => system.actor(type, "v").put("first"))
  stop()
  return writer
}

const strikes: Record<string, (scene: Scene, machine: string) => void> = {
  "is killed": (scene, machine) => scene.stage.crash(machine),
  "is frozen": (scene, machine) => scene.stage.pause(machine, 6_000),
  "loses its peers": (scene, machine) => {
    for (const other of ["a", "b", "c"].filter((one) => one !== machine)) {
      const heal = scene.stage.cut(machine, other)
      void scene.sleep(8_000).then(heal)
    }
  },
}

describe.each([Vault, Sharded])("$type", (type) => {
  test.each(Object.keys(strikes))("a call is applied once whose node %s after the commit", async (strike) => {
    await play(async (scene) => {
      await startAll(scene, type)
      const writer = await writerOf(scene, type)
      const caller = ["a", "b", "c"].find((one) => one !== writer) as string
      let isStruck = false
      watchWriter(scene, () => {
        if (isStruck) return
        isStruck = true
        void scene.sleep(0).then(() => strikes[strike]?.(scene, writer))
      })
      const answers = await scene.on(caller, (system) => {
        const vault = withOptions(system.actor(type, "v"), { timeoutMs: 30_000 })
        return Promise.all(["x", "y", "z"].map((what) => vault.put(what, what === "y" ? 1_000 : 0)))
      })
      expect(isStruck).toBe(true)
      expect(answers.map((one) => one.slice(0, 1))).toEqual(["2", "3", "4"])
      expect(await scene.on(caller, (system) => system.actor(type, "v").list())).toEqual([
        "first",
        "x",
        "y",
        "z",
      ])
    })
  })

  test("a local call is applied once whose node is fenced while its commit is on its way", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const writer = await writerOf(scene, type)
      const heal = scene.stage.store().cutOff(writer)
      const call = scene.on(writer, (system) =>
        Promise.all(
          ["x", "y"].map((what) => withOptions(system.actor(type, "v"), { timeoutMs: 30_000 }).put(what)),
        ),
      )
      await scene.sleep(5_000)
      heal()
      expect(await call).toEqual(["2", "3"])
      expect(await scene.on(writer, (system) => system.actor(type, "v").list())).toEqual(["first", "x", "y"])
    })
  })

  test("an operation that timed out goes on from this process and from another one", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const writer = await writerOf(scene, type)
      const [caller, other] = ["a", "b", "c"].filter((one) => one !== writer) as [string, string]
      scene.stage.pause(writer, 1_000)
      const error = await scene.on(caller, (system) =>
        withOptions(system.actor(type, "v"), { timeoutMs: 200 })
          .put("late")
          .catch((thrown: unknown) => thrown),
      )
      expect(error).toBeInstanceOf(TimeoutError)
      const { operation, delivery } = error as TimeoutError
      expect([typeof operation, delivery]).toEqual(["string", "unknown"])
      const again = (system: { actor: (made: typeof Vault, key: string) => ActorHandle<Vault> }) =>
        withOptions(system.actor(type, "v"), { operation: operation as string, timeoutMs: 30_000 }).put(
          "late",
        )
      expect(await scene.on(other, again)).toBe("2")
      expect(await scene.on(caller, again)).toBe("2")
      expect(await scene.on(caller, (system) => system.actor(type, "v").list())).toEqual(["first", "late"])
    })
  })

  test("a one-way call is repeated too", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const writer = await writerOf(scene, type)
      const caller = ["a", "b", "c"].find((one) => one !== writer) as string
      const { stop } = watchWriter(scene, () => {
        stop()
        void scene.sleep(0).then(() => scene.stage.crash(writer))
      })
      await scene.on(caller, (system) => oneWay(system.actor(type, "v")).put("x"))
      await scene.sleep(8_000)
      expect(await scene.on(caller, (system) => system.actor(type, "v").list())).toEqual(["first", "x"])
    })
  })
})

test("calls within a once turn have derived operations, which a repeat of the turn has too", async () => {
  class Near extends Vault {
    static readonly placement = rendezvous
  }
  await play(async (scene) => {
    await startAll(scene, Near)
    const pass = () =>
      scene.on("a", (system) => withOptions(system.actor(Near, "p"), { operation: "o" }).pass("q", "x"))
    expect(await pass()).toEqual(["1", "2"])
    expect(await pass()).toEqual(["1", "2"])
    const rows = scene.stage
      .store()
      .list("shards/kin/Vault/q/o/")
      .entries.map(({ key }) => key)
    expect(rows).toEqual(["shards/kin/Vault/q/o/~Vault!p!o!1", "shards/kin/Vault/q/o/~Vault!p!o!2"])
    const made = await scene.on("b", (system) =>
      withOptions(system.actor(Near, "q"), { operation: "~Vault/p/o/1" }).put("x-1"),
    )
    expect(made).toBe("1")
    expect(await scene.on("a", (system) => system.actor(Near, "q").list())).toEqual(["x-1", "x-2"])
  })
})

test("a turn knows its operation", async () => {
  await play(async (scene) => {
    await scene.start("a", [Vault])
    const names = await scene.on("a", (system) => {
      const vault = system.actor(Vault, "v")
      return Promise.all([withOptions(vault, { operation: "mine" }).names(), vault.names(), vault.plain()])
    })
    expect(names).toEqual(["mine", expect.stringMatching(/^~[0-9a-f]{16}\.\d+$/), "none"])
  })
})

test("a caller that knows only the name of a type is told which methods are once", async () => {
  await play(async (scene) => {
    await scene.start("a", [Vault])
    await scene.start("client", [])
    await scene.on("client", async (system) => {
      const vault = system.actor<Vault>("Vault", "one")
      expect(await vault.names()).toMatch(/^~[0-9a-f]{16}\.\d+$/)
      expect(await vault.plain()).toBe("none")
    })
  })
})

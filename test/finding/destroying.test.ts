import { describe, expect, test } from "vitest"
import {
  Actor,
  ActorSystem,
  type DeactivationReason,
  memoryStore,
  type Reminder,
  rendezvous,
  sharded,
  UnknownActorTypeError,
  withOptions,
} from "../../src/index.js"
import { encodeState } from "../../src/registry/stored-state.js"
import { play, type Scene } from "../sharding/scene.js"

interface NoteState {
  text: string
  got: string[]
}

const log: string[] = []

class Note extends Actor<NoteState> {
  static readonly type: string = "Note"
  static readonly methods = {
    write: { once: true },
    drop: { once: true },
    dropAndThrow: { once: true },
    farewell: { once: true },
    receive: { once: true },
    look: { readOnly: true },
    dropInReader: { readOnly: true },
    read: { readOnly: true },
  }

  protected override initialState() {
    return { text: "", got: [] as string[] }
  }

  protected override onDeactivate(reason: DeactivationReason) {
    log.push(`${this.key} ${reason}`)
  }

  protected override onReminder({ name }: Reminder) {
    log.push(`${this.key} reminded of ${name}`)
  }

  write(text: string) {
    this.state.text = text
    return `wrote ${text}`
  }

  receive(text: string) {
    this.state.got.push(text)
  }

  async save_(text: string) {
    this.state.text = text
    await this.save()
  }

  read() {
    return this.state.text
  }

  stop_() {
    this.deactivate()
  }

  look() {
    return this.state.got
  }

  drop() {
    this.destroy()
    return "dropped"
  }

  dropPlain() {
    this.destroy()
    return "dropped"
  }

  dropAndThrow() {
    this.destroy()
    throw new Error("not after all")
  }

  dropPlainAndThrow() {
    this.destroy()
    throw new Error("not after all")
  }

  dropInReader() {
    this.destroy()
  }

  async dropAndSave() {
    this.destroy()
    await this.save()
  }

  async remind(count: number, afterMs: number) {
    for (let number = 1; number <= count; number += 1) {
      this.reminders.set(`reminder number ${number}`, { afterMs }, "x".repeat(100))
      if (number % 30 === 0) await this.save()
    }
    await this.save()
  }

  farewell(to: readonly string[], text: string) {
    for (const one of to) this.eventually(this.actor(Note, one)).receive(text)
    this.destroy()
  }
}

class ShardedNote extends Note {
  static readonly placement = sharded({ shards: 4 })
}

class PlacedNote extends Note {
  static readonly placement = rendezvous
}

/** A little more. */
const DAY_MS = 25 * 60 * 60 * 1_000

/** What the store has of actors. */
function left(scene: Scene): readonly string[] {
  const { entries } = scene.stage.store().list("shards/")
  const keys = entries.map(({ key }) => key.slice("shards/".length))
  return keys.filter((key) => /^(state|kin|due|placements)\//.test(key))
}

function expectNone(keys: readonly string[]): void {
  expect(keys, keys.join(" ")).toHaveLength(0)
}

async function startAll(scene: Scene, type: typeof Note, machines = ["a", "b"]): Promise<void> {
  for (const machine of machines) {
    await scene.start(machine, [type], { lease: { ttlMs: 2_000, deathProof: false } })
  }
}

/** Replaces nodes by another one, so that shards have later generations. */
async function replace(scene: Scene, type: typeof Note, gone: readonly string[], by: string): Promise<void> {
  await startAll(scene, type, [by])
  for (const machine of gone) await scene.stop(machine)
}

/** Calls an actor from one of the nodes. */
function note(scene: Scene, type: typeof Note, key = "n", from = "a") {
  return <T>(task: (one: Note) => T | Promise<T>): Promise<T> =>
    scene.on(from, (system: ActorSystem) => task(system.actor(type, key) as never))
}

describe.each([PlacedNote, ShardedNote])("$name", (type) => {
  const isSharded = type === ShardedNote

  test("an actor that destroys itself is a new one at the next call", async () => {
    await play(async (scene) => {
      log.length = 0
      await startAll(scene, type)
      const call = note(scene, type)
      await call((one) => one.save_("x".repeat(40_000)))
      await call((one) => one.remind(50, 60_000))
      const answers = await call((one) => Promise.all([one.dropPlain(), one.read(), one.look()]))
      expect(answers).toEqual(["dropped", "", []])
      expect(log).toEqual(["n destroyed"])
      await call((one) => one.save_("again"))
      expect(await note(scene, type, "n", "b")((one) => one.read())).toBe("again")
      await scene.sleep(90_000)
      expect(log.filter((line) => line.includes("reminded"))).toEqual([])
    })
  })

  test("what is left of an actor of which nothing has to be remembered is gone", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const call = note(scene, type)
      await call((one) => one.save_("x".repeat(40_000)))
      await call((one) => one.remind(50, 60_000))
      expect(await call((one) => one.dropPlain())).toBe("dropped")
      await scene.sleep(1_000)
      const [state, due, ...rest] = left(scene).toReversed()
      if (!isSharded) return expectNone(left(scene))
      // The generation outlives the actor.
      expect([state, due, ...rest]).toEqual([
        "state/Note/n",
        expect.stringMatching(/^due\/Note\.\d\/Note\/\d+\/n\/~t$/),
      ])
    })
  })

  test("a repeated operation is applied once, though the actor was destroyed after it", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const named = (operation: string, task: (one: Note) => unknown) =>
        scene.on("a", (system) => task(withOptions(system.actor(type, "n"), { operation }) as never))
      expect(await named("create", (one) => one.write("first"))).toBe("wrote first")
      expect(await named("destroy", (one) => one.drop())).toBe("dropped")
      expect(await named("create", (one) => one.write("first"))).toBe("wrote first")
      expect(await note(scene, type)((one) => one.read())).toBe("")
      expect(await named("create again", (one) => one.write("second"))).toBe("wrote second")
      expect(await named("destroy", (one) => one.drop())).toBe("dropped")
      expect(await note(scene, type)((one) => one.read())).toBe("second")
    })
  })

  test("a turn that throws destroys nothing, and save() has no place after destroy()", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const call = note(scene, type)
      await call((one) => one.save_("kept"))
      await expect(call((one) => one.dropAndThrow())).rejects.toThrow("not after all")
      await expect(call((one) => one.dropPlainAndThrow())).rejects.toThrow("not after all")
      await expect(call((one) => one.dropInReader())).rejects.toThrow("cannot be destroyed")
      await expect(call((one) => one.dropAndSave())).rejects.toThrow(TypeError)
      expect(await call((one) => one.read())).toBe("kept")
      await call((one) => one.save_("kept on"))
      expect(await call((one) => one.read())).toBe("kept on")
    })
  })

  test("messages that it has sent before are delivered all the same", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const call = note(scene, type)
      const others = ["x", "y", "z"]
      for (const text of ["first", "second", "third"]) {
        await call((one) => one.save_("here"))
        await call((one) => one.farewell(others, text))
      }
      await scene.sleep(5_000)
      for (const other of others) {
        expect(await note(scene, type, other)((one) => one.look())).toEqual(["first", "second", "third"])
      }
    })
  })

  test("system.destroy destroys an actor that runs, one that does not, and nothing twice", async () => {
    await play(async (scene) => {
      log.length = 0
      await startAll(scene, type)
      const call = note(scene, type)
      await call((one) => one.save_("here"))
      const destroy = (key = "n") => scene.on("b", (system) => system.destroy(type, key))
      await destroy()
      expect(log).toEqual(["n destroyed"])
      expect(await call((one) => one.read())).toBe("")
      const commits: string[] = []
      scene.stage.store().observe((event) => {
        if (event.kind !== "judged") return
        for (const { key } of event.commit.writes) if (key.startsWith("shards/state/")) commits.push(key)
      })
      await destroy("nobody")
      expect(commits).toEqual([])
    })
  })

  test("a node dies between two batches: the next activation finishes the destruction", async () => {
    await play(async (scene) => {
      log.length = 0
      await startAll(scene, type, ["a", "b", "c"])
      await note(scene, type)((one) => one.save_("here"))
      await note(scene, type)((one) => one.remind(140, 300_000))
      let dying = 0
      let isStruck = false
      scene.stage.store().observe((event) => {
        if (event.kind !== "judged" || event.result.kind !== "committed" || isStruck) return
        const rows = event.commit.writes.filter(({ kind, key }) => kind === "delete" && key.includes("/r/"))
        if (rows.length === 0) return
        dying += 1
        if (dying < 2) return
        isStruck = true
        const machine = event.by.split(/[.+]/)[0] as string
        void scene.sleep(0).then(() => scene.stage.crash(machine))
      })
      const dropped = note(scene, type, "n", "a")((one) => one.dropPlain()).catch(() => "node died")
      await Promise.race([dropped, scene.sleep(2_000)])
      await scene.sleep(1_000)
      expect(isStruck).toBe(true)
      expect(left(scene).filter((key) => key.includes("/r/")).length).toBeGreaterThan(0)
      // Nobody calls the actor: a keeper does.
      // Wall clocks differ by up to a minute.
      await scene.sleep(90_000)
      expectNone(left(scene).filter((key) => key.includes("/r/") || key.includes("reminder")))
      const from = ["a", "b", "c"].find((machine) => scene.stage.isUp(machine)) as string
      expect(await note(scene, type, "n", from)((one) => one.read())).toBe("")
    })
  })

  test("a first save that hung does not bring the actor back", async () => {
    await play(async (scene) => {
      await startAll(scene, type, ["a"])
      const store = scene.stage.store()
      const late: boolean[] = []
      store.observe((event) => {
        if (event.kind !== "judged" || !event.isLate) return
        late.push(event.result.kind === "committed")
      })
      const call = note(scene, type)
      // The activation is there, and has written nothing.
      await call((one) => one.read())
      store.strikeNext("a", "store-late-arrival")
      await call((one) => one.save_("here"))
      expect(await call((one) => one.dropPlain())).toBe("dropped")
      await scene.sleep(60_000)
      expect(late).toEqual([false])
      expect(await call((one) => one.read())).toBe("")
    })
  })

  test("what a destroyed actor remembers is forgotten, and a tombstone goes, after some days", async () => {
    await play(async (scene) => {
      await startAll(scene, type)
      const named = (operation: string, task: (one: Note) => unknown) =>
        scene.on("a", (system) => task(withOptions(system.actor(type, "n"), { operation }) as never))
      await named("create", (one) => one.write("first"))
      // The sender remembers nothing, and its message is applied.
      await note(scene, type, "m")((one) => one.save_("sender"))
      await note(scene, type, "m")((one) => one.farewell(["n"], "bye"))
      await scene.sleep(1_000)
      expect(await note(scene, type)((one) => one.drop())).toBe("dropped")
      await scene.sleep(1_000)
      expect(left(scene).some((key) => key === "state/Note/n")).toBe(true)
      await replace(scene, type, ["a", "b"], "c")
      for (let day = 0; day < 5; day += 1) {
        scene.stage.shiftClock("c", DAY_MS)
        await scene.sleep(30_000)
      }
      expectNone(left(scene))
    })
  })

  test("messages of an actor that was created again are not taken for those of the one before", async () => {
    await play(async (scene) => {
      await startAll(scene, type, ["a"])
      let machine = "a"
      for (const [index, text] of ["first", "second", "third"].entries()) {
        await note(scene, type, "n", machine)((one) => one.save_("here"))
        await note(scene, type, "n", machine)((one) => one.farewell(["x"], text))
        await scene.sleep(1_000)
        await replace(scene, type, [machine], `m${index}`)
        machine = `m${index}`
        scene.stage.shiftClock(machine, index * 4 * DAY_MS)
        for (let day = 0; day < 4; day += 1) {
          scene.stage.shiftClock(machine, DAY_MS)
          await scene.sleep(20_000)
        }
        expectNone(left(scene).filter((key) => key.includes("/n")))
      }
      expect(await note(scene, type, "x", machine)((one) => one.look())).toEqual(["first", "second", "third"])
    })
  })
})

class Broken extends Note {
  static override readonly type = "Broken"
  static problem: "none" | "throws" | "hangs" | "cannot upgrade" = "none"

  protected override async onActivate() {
    log.push(`${this.key} starts`)
    if (Broken.problem === "throws") throw new Error("cannot start")
    if (Broken.problem === "hangs") await new Promise(() => {})
  }
}

class Upgraded extends Note {
  static override readonly type = "Broken"
  static readonly stateVersion = 1
}

test("an actor that cannot start can be destroyed, and is not started for it", async () => {
  await play(async (scene) => {
    Broken.problem = "none"
    await startAll(scene, Broken)
    for (const problem of ["throws", "hangs", "cannot upgrade"] as const) {
      Broken.problem = "none"
      await note(scene, Broken)((one) => one.save_(problem))
      await note(scene, Broken)((one) => one.stop_())
      await scene.sleep(1_000)
      Broken.problem = problem
      log.length = 0
      if (problem === "cannot upgrade") {
        await startAll(scene, Upgraded, ["c"])
        for (const machine of ["a", "b"]) await scene.stop(machine)
        await expect(note(scene, Upgraded, "n", "c")((one) => one.read())).rejects.toThrow(
          "could not be started",
        )
        await scene.on("c", (system) => system.destroy(Upgraded, "n"))
        expect(await note(scene, Upgraded, "n", "c")((one) => one.read())).toBe("")
        return
      }
      await scene.on("b", (system) => system.destroy(Broken, "n"))
      expect(log).toEqual([])
      Broken.problem = "none"
      expect(await note(scene, Broken)((one) => one.read())).toBe("")
    }
  })
})

test("an actor is destroyed while its start fails, or hangs", async () => {
  await play(async (scene) => {
    await startAll(scene, Broken, ["a"])
    for (const problem of ["throws", "hangs"] as const) {
      Broken.problem = "none"
      await note(scene, Broken)((one) => one.save_(problem))
      await note(scene, Broken)((one) => one.stop_())
      await scene.sleep(1_000)
      Broken.problem = problem
      const [read, destroyed] = await scene.on("a", (system) =>
        Promise.allSettled([
          withOptions(system.actor(Broken, "n"), { timeoutMs: 120_000 }).read(),
          system.destroy(Broken, "n").catch(() => system.destroy(Broken, "n")),
        ]),
      )
      expect([read?.status, destroyed?.status]).toEqual(["rejected", "fulfilled"])
      Broken.problem = "none"
      expect(await note(scene, Broken)((one) => one.read())).toBe("")
    }
  })
})

class Passing extends Actor<number> {
  static readonly durable = false

  protected override initialState() {
    return 0
  }

  drop() {
    this.destroy()
  }
}

test("an actor that is not stored has nothing to destroy", async () => {
  await using system = await ActorSystem.start({ namespace: "test", actors: [Passing], store: memoryStore() })
  await expect(system.actor(Passing, "p").drop()).rejects.toThrow("durable = false")
  await expect(system.destroy(Passing, "p")).rejects.toThrow("durable = false")
  await expect(system.destroy("Unknown", "p")).rejects.toThrow(UnknownActorTypeError)
})

test("an actor whose import was cut off is none: nothing of it is kept", async () => {
  await play(async (scene) => {
    await startAll(scene, PlacedNote, ["a"])
    await scene.start("writer", [])
    await scene.stage.on("writer", async (life) => {
      const store = await scene.stage.store().provider(life).open("shards", life.ports)
      const { epoch } = await store.get("state/Note/n")
      const end = { phase: "unfinished", generation: 1 } as const
      const head = { writeId: "w", version: 0, codec: "binary", end }
      const rows = [...Array(120).keys()].map((row) => `kin/Note/n/o/${row}`)
      const keys = ["kin/Note/n/c/1", "kin/Note/n/i/x", "kin/Note/n/x/0000000000000001", ...rows]
      const put = (key: string, value: Uint8Array) => ({ kind: "put", key, value }) as const
      const writes = [
        put("state/Note/n", encodeState(head, () => {}).bytes),
        ...keys.map((key) => put(key, Buffer.of(1))),
      ]
      expect((await store.commit({ epoch, conditions: [], writes })).kind).toBe("committed")
      await store.close()
    })
    expect(await note(scene, PlacedNote)((one) => one.read())).toBe("")
    await note(scene, PlacedNote)((one) => one.stop_())
    await scene.sleep(1_000)
    expectNone(left(scene))
  })
})

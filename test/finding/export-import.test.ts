import { expect, test } from "vitest"
import {
  Actor,
  type ActorHandle,
  ActorSystem,
  exportActors,
  ImportError,
  importActors,
  type Reminder,
  sharded,
  withOptions,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

interface Kept {
  text: string
  log: string[]
}

/** Counts what user code is run for actors that are imported. */
const activated: string[] = []

class Box extends Actor<Kept> {
  static readonly type: string = "Box"
  static readonly methods = { note: { once: true }, send: { once: true }, remind: { once: true } }

  protected override initialState(): Kept {
    return { text: "", log: [] }
  }

  protected override onActivate() {
    activated.push(this.key)
  }

  note(text: string) {
    this.state.log.push(text)
    return this.state.log.length
  }

  send(to: string, text: string) {
    this.eventually(this.actor(Box, to)).note(text)
  }

  remind(inMs: number, names: readonly string[]) {
    for (const name of names) this.reminders.set(name, { afterMs: inMs }, name)
  }

  protected override onReminder({ name }: Reminder) {
    this.state.log.push(`reminded ${name}`)
  }

  async fill(size: number) {
    this.state.text = "x".repeat(size)
    await this.save()
  }

  size() {
    return this.state.text.length
  }

  entries() {
    return this.state.log
  }
}

class Spread extends Box {
  static override readonly type = "Spread"
  static readonly placement = sharded({ shards: 4 })
}

type Method<T> = (box: ActorHandle<Box>) => Promise<T>

const on = <T>(scene: Scene, key: string, task: Method<T>, type = Box, machine = "a") =>
  scene.on(machine, (system) => task(system.actor(type, key)))

async function linesOf(scene: Scene, type = Box, machine = "a"): Promise<readonly string[]> {
  return scene.on(machine, async (system) => {
    const lines: string[] = []
    for await (const line of exportActors(system, type)) lines.push(line)
    return lines
  })
}

/** Fills a cluster, and returns what it exports. */
async function exportedBy(fill: (scene: Scene) => Promise<void>, type = Box): Promise<readonly string[]> {
  let lines: readonly string[] = []
  await play(async (scene) => {
    await scene.start("a", [type])
    await fill(scene)
    lines = fromAnotherStore(await linesOf(scene, type))
  })
  return lines
}

/** All simulated stores have one identity. */
function fromAnotherStore([header = "", ...rest]: readonly string[]): readonly string[] {
  return [header.replace('"store":"simulated-store"', '"store":"another"'), ...rest]
}

/** The states of all boxes, as their methods show them. */
async function shown(scene: Scene, keys: readonly string[], type = Box, machine = "a") {
  const seen: Record<string, unknown> = {}
  for (const key of keys) {
    seen[key] = [
      await on(scene, key, (box) => box.size(), type, machine),
      await on(scene, key, (box) => box.entries(), type, machine),
    ]
  }
  return seen
}

for (const type of [Box, Spread]) {
  test(`another cluster gets what was exported, and starts none of it: ${type.type}`, async () => {
    const keys = ["a", "a/b", "large", "ü"]
    const fill = async (scene: Scene) => {
      for (const key of keys) await on(scene, key, (box) => box.note(`note of ${key}`), type)
      await on(scene, "large", (box) => box.fill(700_000), type)
    }
    const lines = await exportedBy(fill, type)
    await play(async (scene) => {
      await scene.start("a", [type])
      await scene.start("b", [type])
      await scene.start("client", [])
      activated.length = 0
      const progress = await scene.on("client", (system) => importActors(system, type, lines))
      expect(progress).toEqual({ imported: 4, skipped: 0 })
      expect(activated).toEqual([])
      if (type === Box) expect(scene.stage.store().list("shards/placements/").entries).toEqual([])
      const own = Object.fromEntries(
        keys.map((key) => [key, [key === "large" ? 700_000 : 0, [`note of ${key}`]]]),
      )
      expect(await shown(scene, keys, type)).toEqual(own)
      expect(await linesOf(scene, type, "client")).toHaveLength(lines.length)
    })
  })

  test(`reminders fire, messages arrive, and operations are remembered: ${type.type}`, async () => {
    const names = Array.from({ length: 150 }, (_, at) => `reminder ${at} ${"n".repeat(at % 90)}`)
    const fill = async (scene: Scene) => {
      for (let from = 0; from < names.length; from += 30) {
        await on(scene, "many", (box) => box.remind(60_000, names.slice(from, from + 30)), type)
      }
      await on(scene, "one", (box) => box.remind(60_000, ["one"]), type)
      await on(scene, "named", (box) => withOptions(box, { operation: "order 7" }).note("seven"), type)
    }
    const lines = await exportedBy(fill, type)
    await play(async (scene) => {
      await scene.start("a", [type])
      await scene.start("b", [type])
      expect(await scene.on("b", (system) => importActors(system, type, lines))).toMatchObject({
        imported: 3,
      })
      expect(
        await on(scene, "named", (box) => withOptions(box, { operation: "order 7" }).note("seven"), type),
      ).toBe(1)
      await scene.sleep(120_000)
      expect(await on(scene, "one", (box) => box.entries(), type)).toEqual(["reminded one"])
      expect(new Set(await on(scene, "many", (box) => box.entries(), type))).toEqual(
        new Set(names.map((n) => `reminded ${n}`)),
      )
      expect(
        scene.stage
          .store()
          .list("shards/due/")
          .entries.map(({ key }) => key)
          .filter((key) => !key.endsWith("~o")),
      ).toEqual([])
    })
  })
}

test("messages that were not delivered are delivered in the other cluster", async () => {
  class Away extends Box {
    static override readonly type = "Away"
  }
  class Sender extends Actor<number> {
    static readonly type = "Sender"
    static readonly once = true

    protected override initialState() {
      return 0
    }

    send(texts: readonly string[]) {
      for (const text of texts) this.eventually(this.actor(Away, "receiver")).note(text)
    }
  }
  let lines: readonly string[] = []
  await play(async (scene) => {
    await scene.start("a", [Sender, Away])
    await scene.on("a", (system) => system.actor(Sender, "s").send(["before"]))
    await scene.sleep(1_000)
    await scene.stop("a")
    // Nobody hosts the receiver.
    await scene.start("b", [Sender])
    await scene.on("b", (system) => system.actor(Sender, "s").send(["one", "two"]))
    lines = await scene.on("b", async (system) => {
      const all: string[] = []
      for await (const line of exportActors(system, Sender)) all.push(line)
      return all
    })
  })
  await play(async (scene) => {
    await scene.start("a", [Sender, Away])
    // The cluster has an actor of that name, which has sent messages of its own.
    await scene.on("a", (system) => system.actor(Sender, "s").send(["own 1", "own 2", "own 3", "own 4"]))
    await scene.sleep(1_000)
    const other = fromAnotherStore(lines)
    await scene.on("a", (system) => importActors(system, Sender, other, { onExisting: "replace" }))
    await scene.sleep(60_000)
    const log = await scene.on("a", (system) => system.actor(Away, "receiver").entries())
    expect(log).toEqual(["own 1", "own 2", "own 3", "own 4", "one", "two"])
    await scene.on("a", (system) => system.actor(Sender, "s").send(["after"]))
    await scene.sleep(1_000)
    expect(await scene.on("a", (system) => system.actor(Away, "receiver").entries())).toEqual([
      ...log,
      "after",
    ])
  })
})

test("an actor that is put back in its own cluster repeats no message, and its next ones are new", async () => {
  class Sender extends Actor<number> {
    static readonly type = "Sender"
    static readonly once = true

    protected override initialState() {
      return 0
    }

    send(text: string) {
      this.state += 1
      this.eventually(this.actor(Box, "receiver")).note(text)
      return this.state
    }
  }
  await play(async (scene) => {
    await scene.start("a", [Sender, Box])
    const send = (text: string) => scene.on("a", (system) => system.actor(Sender, "s").send(text))
    await send("one")
    await scene.sleep(1_000)
    const lines = await scene.on("a", async (system) => {
      const all: string[] = []
      for await (const line of exportActors(system, Sender)) all.push(line)
      return all
    })
    await send("two")
    await scene.sleep(1_000)
    await scene.on("a", (system) => importActors(system, Sender, lines, { onExisting: "replace" }))
    expect(await send("three")).toBe(2)
    await scene.sleep(1_000)
    expect(await on(scene, "receiver", (box) => box.entries())).toEqual(["one", "two", "three"])
  })
})

test("an importer that dies leaves each actor whole or absent, for calls within seconds; the import is repeated", async () => {
  const keys = Array.from({ length: 40 }, (_, at) => `key ${at}`)
  const names = Array.from({ length: 30 }, (_, at) => `reminder ${at} ${"n".repeat(60)}`)
  for (const type of [Box, Spread]) {
    const lines = await exportedBy(async (scene) => {
      for (const key of keys) {
        await on(scene, key, (box) => box.remind(3_600_000, names), type)
      }
    }, type)
    for (const diesAfterMs of [3, 7, 12, 20]) {
      await play(async (scene) => {
        await scene.start("a", [type])
        await scene.start("client", [])
        const due = () => scene.stage.store().list("shards/due/").entries.length
        const importing = scene.on("client", (system) => importActors(system, type, lines))
        const died = expect(importing).rejects.toThrow()
        await scene.sleep(diesAfterMs)
        scene.stage.crash("client")
        await died
        // As long as a hold lasts, at most.
        await scene.sleep(11_000)
        for (const key of keys) expect(await on(scene, key, (box) => box.size(), type)).toBe(0)
        const left = await scene.on("a", async (system) => {
          let listed = 0
          for await (const _key of system.list(type)) listed += 1
          return listed
        })
        expect(due()).toBe(left * names.length)
        const again = await scene.on("a", (system) =>
          importActors(system, type, lines, { onExisting: "skip" }),
        )
        expect(again).toEqual({ imported: keys.length - left, skipped: left })
        expect(due()).toBe(keys.length * names.length)
      })
    }
  }
})

test("what exists is refused, kept or replaced", async () => {
  const lines = await exportedBy(async (scene) => {
    for (const key of ["a", "b", "c"]) await on(scene, key, (box) => box.note("exported"))
  })
  await play(async (scene) => {
    await scene.start("a", [Box])
    await on(scene, "b", (box) => box.note("own"))
    await on(scene, "b", (box) => box.remind(3_600_000, ["own"]))
    const into = (onExisting: "refuse" | "skip" | "replace") =>
      scene.on("a", (system) => importActors(system, Box, lines, { onExisting }))
    await expect(into("refuse")).rejects.toThrow(ImportError)
    await expect(into("refuse")).rejects.toThrow(
      /line \d of the import: shards::Box\/. exists; set onExisting/,
    )
    expect(await into("skip")).toEqual({ imported: 0, skipped: 3 })
    expect(await shown(scene, ["a", "b", "c"])).toMatchObject({ a: [0, ["exported"]], b: [0, ["own"]] })
    expect(await into("replace")).toEqual({ imported: 3, skipped: 0 })
    expect(await shown(scene, ["a", "b", "c"])).toMatchObject({ b: [0, ["exported"]] })
    expect(scene.stage.store().list("shards/due/").entries).toEqual([])
  })
})

test("an actor that is called all the time is replaced between two calls, and none of them fails", async () => {
  for (const type of [Box, Spread]) {
    const lines = await exportedBy(async (scene) => {
      await on(scene, "busy", (box) => box.note("imported"), type)
    }, type)
    await play(async (scene) => {
      await scene.start("a", [type])
      await scene.start("b", [type])
      let isOver = false
      const callers = ["a", "b", "a"].map(async (machine) => {
        const answers: number[] = []
        while (!isOver)
          answers.push((await on(scene, "busy", (box) => box.note("call"), type, machine)) as number)
        return answers
      })
      await scene.sleep(500)
      await scene.on("b", (system) => importActors(system, type, lines, { onExisting: "replace" }))
      await scene.sleep(500)
      isOver = true
      const answers = await Promise.all(callers)
      const log = await on(scene, "busy", (box) => box.entries(), type)
      expect(log[0]).toBe("imported")
      // Each of the calls since has its place behind what was imported.
      expect(log.slice(1).every((text) => text === "call")).toBe(true)
      const since = answers.flatMap((own) =>
        own.slice(own.findIndex((at, i) => i > 0 && at < (own[i - 1] as number))),
      )
      expect(log.length - 1).toBe(since.length)
    })
  }
})

test("a line that is wrong is named by its number, and what was cut off is missed", async () => {
  const [header = "", ...rest] = await exportedBy(async (scene) => {
    await on(scene, "a", (box) => withOptions(box, { operation: "one" }).note("x"))
    await on(scene, "b", (box) => box.note("y"))
  })
  const lines = [header, ...rest]
  await play(async (scene) => {
    await scene.start("a", [Box])
    const into = (given: readonly string[]) =>
      scene.on("a", (system) => importActors(system, Box, given, { onExisting: "replace" }))
    const wrong: [readonly string[], RegExp][] = [
      [[], /^line 0 of the import: must be followed by the rest/],
      [lines.slice(0, -1), new RegExp(`^line ${lines.length - 1} .*was cut off`)],
      [[header, ...rest.slice(1)], /^line 2 of the import: must follow the actor/],
      [lines.filter((_, at) => at !== 2), /^line 4 of the import: 1 of 2 rows of a were before it/],
      [rest, /^line 1 of the import: must be the first line of one/],
      [[header, header], /^line 2 of the import: must not begin another export/],
      [[...lines, "{}"], new RegExp(`^line ${lines.length + 1} of the import: must be a line of an export`)],
      [[...lines, rest[0] as string], /must not follow the last line/],
      [[header, "nonsense"], /^line 2 of the import: must be JSON/],
      [[header.replace('"format":1', '"format":2')], /^line 1 of the import: format must be 1 \(got 2\)/],
      [
        [header.replace('"type":"Box"', '"type":"Bag"')],
        /^line 1 of the import: type must be Box \(got Bag\)/,
      ],
      [[header, '{"end":true,"actors":1}'], /^line 2 of the import: 1 actors must be before it \(got 0\)/],
      [
        [header, '{"actor":"a","version":0,"codec":"binary","value":"!","rows":0}'],
        /^line 2 .*value must be base64/,
      ],
      [
        [header, '{"actor":"a","version":-1,"codec":"binary","value":"","rows":0}'],
        /^line 2 .*version must be a count/,
      ],
      [
        [header, '{"actor":"","version":0,"codec":"binary","value":"","rows":0}'],
        /^line 2 .*must not be empty/,
      ],
      [
        [header, '{"actor":"a","version":0,"codec":"xml","value":"","rows":0}'],
        /^line 2 .*codec must be .* \(got xml\)/,
      ],
    ]
    for (const [given, message] of wrong) await expect(into(given), String(message)).rejects.toThrow(message)
    // Empty lines do not matter, nor do line ends.
    expect(await into([...lines.map((line) => `${line}\r\n`), ""])).toMatchObject({ imported: 2 })
  })
})

test("a signal ends an export and an import, and both tell how far they are", async () => {
  const system = await ActorSystem.start({ namespace: "backup", actors: [Box] })
  try {
    for (let each = 0; each < 100; each += 1) await system.actor(Box, `${each}`).note("x")
    const seen: string[] = []
    const stop = new AbortController()
    const lines: string[] = []
    const reading = async () => {
      for await (const line of exportActors(system, Box, {
        signal: stop.signal,
        onProgress: (count, last) => seen.push(`${count} ${last}`),
      })) {
        lines.push(line)
        if (seen.length === 2) stop.abort(new Error("enough"))
      }
    }
    await expect(reading()).rejects.toThrow("enough")
    expect(seen).toEqual(["32 37", "64 66"])
    const after = []
    for await (const line of exportActors(system, Box, { after: "66" })) after.push(line)
    expect(after).toHaveLength(1 + 36 + 1)
    const end = new AbortController()
    const importing = importActors(system, Box, after, {
      onExisting: "replace",
      signal: end.signal,
      onProgress: ({ imported }) => imported === 20 && end.abort(new Error("that is all")),
    })
    await expect(importing).rejects.toThrow("that is all")
    expect(await importActors(system, Box, after, { onExisting: "skip" })).toEqual({
      imported: 0,
      skipped: 36,
    })
  } finally {
    await system.stop()
  }
})

test("entries in indexes come with the state, and a unique value that is taken refuses the actor", async () => {
  class Member extends Actor<{ email: string; plan: string }> {
    static readonly type = "Member"
    static readonly indexes = {
      email: { of: (state: { email: string }) => state.email, unique: true },
      plan: { of: (state: { plan: string }) => state.plan },
    }

    protected override initialState() {
      return { email: "", plan: "" }
    }

    async join(email: string, plan: string) {
      this.state = { email, plan }
      await this.save()
    }
  }
  const entries = (scene: Scene) =>
    ["index", "unique"].flatMap((kind) =>
      scene.stage
        .store()
        .list(`shards/${kind}/`)
        .entries.map(({ key, value }) => `${key} ${Buffer.from(value)}`.trim()),
    )
  const join = (scene: Scene, key: string, email: string, plan: string) =>
    scene.on("a", (system) => system.actor(Member, key).join(email, plan))
  let lines: readonly string[] = []
  let exported: readonly string[] = []
  await play(async (scene) => {
    await scene.start("a", [Member])
    await join(scene, "ada", "ada@example.com", "pro")
    await join(scene, "ben", "ben@example.com", "free")
    exported = entries(scene)
    lines = await scene.on("a", async (system) => {
      const all: string[] = []
      for await (const line of exportActors(system, Member)) all.push(line)
      return all
    })
  })
  expect(exported).toHaveLength(4)
  await play(async (scene) => {
    await scene.start("a", [Member])
    await scene.start("client", [])
    await scene.on("client", (system) => importActors(system, "Member", lines))
    expect(entries(scene)).toEqual(exported)
    await join(scene, "ben", "ben@example.org", "team")
    await join(scene, "eve", "ben@example.com", "free")
    const into = () =>
      scene.on("client", (system) => importActors(system, "Member", lines, { onExisting: "replace" }))
    await expect(into()).rejects.toThrow(/^line 3 of the import: .*ben has a value .* unique index email/)
    // It is as it was before.
    await join(scene, "eve", "eve@example.com", "free")
    expect(entries(scene).filter((entry) => entry.endsWith("ben"))).toHaveLength(2)
    await into()
    expect(entries(scene).filter((entry) => !entry.includes("eve"))).toEqual(exported)
  })
})

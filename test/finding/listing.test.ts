import { expect, test } from "vitest"
import { Actor, ActorIdError, ActorSystem, type KeyPage } from "../../src/index.js"
import { encodeState } from "../../src/registry/stored-state.js"
import { play, type Scene } from "../sharding/scene.js"

class User extends Actor<{ name: string }> {
  static readonly type: string = "User"

  protected override initialState() {
    return { name: "" }
  }

  async rename(name: string) {
    this.state.name = name
    await this.save()
  }

  name() {
    return this.state.name
  }
}

/** Its name begins with that of the other. */
class UserGroup extends User {
  static override readonly type = "UserGroup"
}

class Passing extends Actor<number> {
  static readonly type = "Passing"
  static readonly durable = false

  protected override initialState() {
    return 0
  }
}

const KEYS = ["zoë", "a/b", "a-b", "a", "A", "%", "ada@example.com", "10", "9", "日本"]
/** In the order of the bytes of `%`, `%E6...`, `10`, `9`, `A`, `a`, `a%2Fb`, `a-b`, `ada%40...`, `zo%C3%AB`. */
const IN_ORDER = ["%", "日本", "10", "9", "A", "a", "a/b", "a-b", "ada@example.com", "zoë"]

async function populate(scene: Scene): Promise<void> {
  await scene.on("a", async (system) => {
    for (const key of KEYS) await system.actor(User, key).rename(key)
    await system.actor(UserGroup, "group").rename("g")
    // Not stored: it was only called.
    await system.actor(User, "unsaved").name()
  })
}

async function all(
  system: ActorSystem,
  type: typeof User | string,
  options = {},
): Promise<readonly string[]> {
  const keys: string[] = []
  for await (const key of system.list(type, options)) keys.push(key)
  return keys
}

async function pages(system: ActorSystem, limit: number): Promise<readonly KeyPage[]> {
  const read: KeyPage[] = []
  let after: string | undefined
  do {
    const page = await system.list(User, { after, limit }).page()
    read.push(page)
    after = page.next
  } while (after !== undefined)
  return read
}

test("lists all stored actors of a type and of no other, in the order of their encoded keys", async () => {
  await play(async (scene) => {
    await scene.start("a", [User, UserGroup])
    await populate(scene)
    await scene.on("a", async (system) => {
      expect(await all(system, User)).toEqual(IN_ORDER)
      expect(await all(system, "User")).toEqual(IN_ORDER)
      expect(await all(system, UserGroup)).toEqual(["group"])
      expect(await all(system, "Use")).toEqual([])
    })
  })
})

test("after and limit choose what is listed, and pages put together are the whole", async () => {
  await play(async (scene) => {
    await scene.start("a", [User, UserGroup])
    await populate(scene)
    await scene.on("a", async (system) => {
      expect(await all(system, User, { after: "a/b", limit: 2 })).toEqual(["a-b", "ada@example.com"])
      // Nobody has this key: "a" is written before "a%20", and "a%2Fb" after it.
      expect(await all(system, User, { after: "a " })).toEqual(IN_ORDER.slice(6))
      for (const limit of [1, 3, 9, 10, 11, 5_000]) {
        const read = await pages(system, limit)
        expect(read.flatMap(({ keys }) => keys)).toEqual(IN_ORDER)
        for (const { keys } of read.slice(0, -1)) expect(keys).toHaveLength(limit)
      }
      expect((await system.list(User).page()).next).toBeUndefined()
    })
  })
})

test("a listing that is not read to its end reads no more than it needs", async () => {
  await play(async (scene) => {
    await scene.start("a", [User, UserGroup])
    await populate(scene)
    const seen = await scene.on("a", async (system) => {
      for await (const key of system.list(User)) return key
      return undefined
    })
    expect(seen).toBe("%")
  })
})

test("a node that hosts nothing lists what others have stored, and starts nothing", async () => {
  await play(async (scene) => {
    await scene.start("a", [User, UserGroup])
    await populate(scene)
    await scene.stop("a")
    await scene.start("client", [])
    await scene.on("client", async (system) => {
      expect(await all(system, "User")).toEqual(IN_ORDER)
      expect(await all(system, User)).toEqual(IN_ORDER)
    })
    expect(scene.stage.store().list("shards/placements/").entries).toEqual([])
  })
})

test("destroyed actors are passed over, also where a page has no others", async () => {
  await play(async (scene) => {
    await scene.start("a", [User, UserGroup])
    await scene.start("writer", [])
    await populate(scene)
    for (const [key, phase] of [
      ["a", "dying"],
      ["a%2Fb", "destroyed"],
      ["a-b", "destroyed"],
    ] as const) {
      await end(scene, `state/User/${key}`, phase)
    }
    await scene.on("a", async (system) => {
      const left = IN_ORDER.filter((key) => !["a", "a/b", "a-b"].includes(key))
      expect(await all(system, User)).toEqual(left)
      expect((await pages(system, 1)).map(({ keys }) => keys)).toEqual(left.map((key) => [key]))
      expect((await system.list(User, { after: "A", limit: 1 }).page()).keys).toEqual(["ada@example.com"])
    })
  })
})

/** Ends an actor as a node does that destroys it. */
async function end(scene: Scene, key: string, phase: "dying" | "destroyed"): Promise<void> {
  const head = { writeId: "w", version: 0, codec: "binary", end: { phase, generation: 1 } }
  const { bytes: value } = encodeState(head, () => {})
  await scene.stage.on("writer", async (life) => {
    const store = await scene.stage.store().provider(life).open("shards", life.ports)
    const { epoch } = await store.get(key)
    const result = await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
    expect(result.kind).toBe("committed")
    await store.close()
  })
}

test("a state that this version cannot read is that of an actor", async () => {
  await play(async (scene) => {
    await scene.start("a", [User])
    await scene.start("writer", [])
    await scene.stage.on("writer", async (life) => {
      const store = await scene.stage.store().provider(life).open("shards", life.ports)
      const { epoch } = await store.get("state/User/later")
      const writes = [{ kind: "put", key: "state/User/later", value: Buffer.from([77, 1, 2]) } as const]
      await store.commit({ epoch, conditions: [], writes })
      await store.close()
    })
    expect(await scene.on("a", (system) => all(system, User))).toEqual(["later"])
  })
})

test("what cannot be listed is refused with the reason", async () => {
  const system = await ActorSystem.start({ namespace: "listing", actors: [User, Passing] })
  try {
    expect(() => system.list(Passing)).toThrow(/not stored and cannot be listed; it has durable = false/)
    expect(() => system.list("Passing")).toThrow(TypeError)
    expect(() => system.list("no/type")).toThrow(ActorIdError)
    expect(() => system.list(User, { after: "" })).toThrow(ActorIdError)
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      expect(() => system.list(User, { limit })).toThrow(/limit must be a positive integer/)
    }
    expect(await all(system, User)).toEqual([])
  } finally {
    await system.stop()
  }
  const plain = await ActorSystem.start({ namespace: "listing" })
  expect(() => plain.list(User)).toThrow(/list needs the store of a cluster/)
  expect(() => plain.locate(User, "a")).toThrow(/locate needs the store of a cluster/)
  await plain.stop()
})

test("lists what is in the private memory of one process", async () => {
  const system = await ActorSystem.start({ namespace: "listing", actors: [User] })
  try {
    for (let each = 0; each < 600; each += 1) await system.actor(User, `user ${each}`).rename("x")
    const keys = await all(system, User)
    expect(keys).toHaveLength(600)
    expect(keys).toEqual([...keys].sort())
    expect((await system.list(User).page()).keys).toHaveLength(256)
  } finally {
    await system.stop()
  }
})

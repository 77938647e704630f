import { expect, test } from "vitest"
import {
  Actor,
  type ActorSystem,
  MessageStuck,
  type RegisteredActor,
  sharded,
  type UndeliveredMessage,
} from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

class Account extends Actor<{ balance: number; got: number[]; back: string[] }> {
  static readonly type: string = "Account"
  static readonly methods = {
    deposit: { once: true },
    transfer: { once: true },
    transferAndThrow: { once: true },
    many: { once: true },
    pingPong: { once: true },
    look: { readOnly: true },
    sendInReader: { readOnly: true },
  }

  protected override initialState() {
    return { balance: 100, got: [], back: [] }
  }

  deposit(amount: number) {
    if (amount === 13) throw new Error("not 13")
    this.state.balance += amount
    this.state.got.push(amount)
  }

  transfer(to: string, amount: number) {
    this.state.balance -= amount
    this.eventually(this.actor(Account, to)).deposit(amount)
  }

  transferAndThrow(to: string, amount: number) {
    this.transfer(to, amount)
    throw new Error("no")
  }

  many(to: readonly string[], amounts: readonly number[]) {
    for (const amount of amounts) for (const one of to) this.transfer(one, amount)
  }

  pingPong(other: string, left: number) {
    this.state.got.push(left)
    if (left > 0) this.eventually(this.actor(Account, other)).pingPong(this.key, left - 1)
  }

  async transferAndSave(to: string, amount: number) {
    this.transfer(to, amount)
    await this.save()
  }

  transferUnsaved(to: string, amount: number) {
    this.transfer(to, amount)
  }

  sendPlain(to: string) {
    this.eventually(this.actor(Account, to)).transferUnsaved("x", 1)
  }

  sendInReader(to: string) {
    this.eventually(this.actor(Account, to)).deposit(1)
  }

  async sendTo(type: string, to: string, amount: number) {
    this.state.balance -= amount
    this.eventually(this.actor<Account>(type, to)).deposit(amount)
    await this.save()
  }

  look() {
    return { ...this.state }
  }

  protected override onUndelivered({ target, method, args, error }: UndeliveredMessage) {
    this.state.balance += args[0] as number
    this.state.back.push(`${target.key}.${method}: ${(error as Error).message}`)
  }
}

class Later extends Account {
  static override readonly type = "Later"
}

class Entity extends Account {
  static override readonly type = "Entity"
  static readonly placement = sharded({ shards: 4 })

  override transfer(to: string, amount: number) {
    this.state.balance -= amount
    this.eventually(this.actor(Entity, to)).deposit(amount)
  }
}

type Call<T> = (system: ActorSystem) => Promise<T>

const look =
  (key: string, type: typeof Account = Account): Call<{ balance: number; got: number[]; back: string[] }> =>
  (system) =>
    system.actor(type, key).look()

const keysWith = (scene: Scene, part: string): readonly string[] =>
  scene.stage
    .store()
    .list()
    .entries.map(({ key }) => key)
    .filter((key) => key.includes(part))

const start = async (scene: Scene, machines: string, actors: readonly RegisteredActor[] = [Account]) => {
  for (const machine of machines) await scene.start(machine, actors)
}

test("a message is applied once, after the commit, and leaves no rows behind", async () => {
  await play(async (scene) => {
    await start(scene, "ab")
    await scene.on("a", (system) => system.actor(Account, "alice").transfer("bob", 5))
    await scene.sleep(1_000)
    expect(await scene.on("a", look("alice"))).toMatchObject({ balance: 95 })
    expect(await scene.on("b", look("bob"))).toMatchObject({ balance: 105, got: [5] })
    expect(keysWith(scene, "kin/Account/alice/x/")).toEqual([])
    expect(keysWith(scene, "due/")).toEqual([])
  })
})

test("a turn that throws sends nothing", async () => {
  await play(async (scene) => {
    await start(scene, "a")
    await expect(
      scene.on("a", (system) => system.actor(Account, "alice").transferAndThrow("bob", 5)),
    ).rejects.toThrow("no")
    await scene.on("a", (system) => system.actor(Account, "alice").transfer("bob", 7))
    await scene.sleep(1_000)
    expect(await scene.on("a", look("alice"))).toMatchObject({ balance: 93 })
    expect(await scene.on("a", look("bob"))).toMatchObject({ got: [7] })
  })
})

test("messages to one actor arrive in their order, to many actors at a time", async () => {
  await play(async (scene) => {
    await start(scene, "ab")
    const to = Array.from({ length: 10 }, (_, index) => `to${index}`)
    await scene.on("a", (system) => system.actor(Account, "alice").many(to, [1, 2, 3]))
    await scene.on("a", (system) => system.actor(Account, "alice").many(to, [4, 5]))
    await scene.sleep(3_000)
    for (const one of to) expect((await scene.on("b", look(one))).got).toEqual([1, 2, 3, 4, 5])
    expect(keysWith(scene, "/x/")).toEqual([])
  })
})

test("a message that the method throws on goes to onUndelivered, and later ones go on", async () => {
  await play(async (scene) => {
    await start(scene, "ab")
    await scene.on("a", (system) => system.actor(Account, "alice").many(["bob"], [1, 13, 2]))
    await scene.sleep(2_000)
    expect(await scene.on("a", look("alice"))).toMatchObject({
      balance: 97,
      back: ["bob.deposit: not 13"],
    })
    expect(await scene.on("a", look("bob"))).toMatchObject({ balance: 103, got: [1, 2] })
    expect(keysWith(scene, "/x/")).toEqual([])
  })
})

test("messages of a plain turn go with its save, and are dropped without", async () => {
  await play(async (scene) => {
    await start(scene, "a")
    await scene.on("a", (system) => system.actor(Account, "alice").transferUnsaved("bob", 5))
    await scene.on("a", (system) => system.actor(Account, "alice").transferAndSave("bob", 7))
    await scene.sleep(1_000)
    expect(await scene.on("a", look("bob"))).toMatchObject({ got: [7] })
  })
})

test("refuses methods that are not once, and turns that cannot store", async () => {
  await play(async (scene) => {
    await start(scene, "a")
    const alice = (task: (alice: ReturnType<typeof handle>) => Promise<unknown>) =>
      scene.on("a", (system) => task(handle(system)))
    const handle = (system: ActorSystem) => system.actor(Account, "alice")
    await expect(alice((one) => one.sendPlain("bob"))).rejects.toThrow(
      /must be once to be called with eventually/,
    )
    await expect(alice((one) => one.sendInReader("bob"))).rejects.toThrow(/cannot send messages/)
    const amounts = Array.from({ length: 65 }, () => 1)
    await expect(alice((one) => one.many(["bob"], amounts))).rejects.toThrow(
      /limit of 64 messages of one turn/,
    )
    await scene.sleep(1_000)
    expect(await scene.on("a", look("bob"))).toMatchObject({ got: [] })
  })
})

test("a message to a type that nobody hosts is shown as stuck, and delivered when it is hosted", async () => {
  await play(async (scene) => {
    await start(scene, "a")
    const stuck = scene.events("a", MessageStuck)
    await scene.on("a", (system) => system.actor(Account, "alice").sendTo("Later", "bob", 5))
    await scene.sleep(60_000)
    expect(stuck.map(({ id, target, method }) => [id.key, target.type, method])).toEqual([
      ["alice", "Later", "deposit"],
    ])
    await start(scene, "b", [Later])
    await scene.sleep(65_000)
    expect(await scene.on("b", look("bob", Later))).toMatchObject({ balance: 105, got: [5] })
    expect(keysWith(scene, "/x/")).toEqual([])
  })
})

test("two actors may send to each other", async () => {
  await play(async (scene) => {
    await start(scene, "ab")
    await scene.on("a", (system) => system.actor(Account, "ping").pingPong("pong", 20))
    await scene.sleep(5_000)
    expect((await scene.on("a", look("ping"))).got).toEqual([20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0])
    expect((await scene.on("a", look("pong"))).got).toEqual([19, 17, 15, 13, 11, 9, 7, 5, 3, 1])
  })
})

const accounts = Array.from({ length: 8 }, (_, index) => `k${index}`)

/** Each account sends three amounts to the next one; `trouble` happens meanwhile, on the way. */
async function transfers(
  scene: Scene,
  type: typeof Account,
  trouble: () => void | Promise<void>,
): Promise<void> {
  for (const machine of "ab") await scene.start(machine, [type])
  await scene.start("c", [])
  const made = accounts.map((from, at) =>
    scene.on("c", async (system) => {
      const to = accounts[(at + 1) % accounts.length] as string
      for (const amount of [1, 2, 3]) await system.actor(type, from).transfer(to, amount)
    }),
  )
  await trouble()
  await Promise.all(made)
  // What the dead node has left to do is due half a minute later, by a clock that may be ahead.
  await scene.sleep(150_000)
  for (const one of accounts) {
    expect(await scene.on("c", look(one, type)), one).toMatchObject({ balance: 100, got: [1, 2, 3] })
  }
  expect(keysWith(scene, "/x/")).toEqual([])
  expect(keysWith(scene, "due/")).toEqual([])
}

test.each([1, 2, 4, 8, 16, 32, 64, 128])("applies each once if a node is killed after %i ms", async (ms) => {
  await play((scene) =>
    transfers(scene, Account, async () => {
      await scene.sleep(ms)
      scene.stage.crash("a")
    }),
  )
})

test.each([4, 32])("applies each once if a node of a sharded type is killed after %i ms", async (ms) => {
  await play((scene) =>
    transfers(scene, Entity, async () => {
      await scene.sleep(ms)
      scene.stage.crash("a")
    }),
  )
})

test.each([Account, Entity])("a node that leaves hands its messages over: %o", async (type) => {
  await play((scene) => transfers(scene, type, () => scene.stop("a")))
})

test("a message outlives the node of its sender and that of its receiver", async () => {
  await play(async (scene) => {
    await start(scene, "a")
    await scene.on("a", (system) => system.actor(Account, "alice").sendTo("Later", "bob", 5))
    scene.stage.crash("a")
    await start(scene, "b", [Account, Later])
    await scene.sleep(20_000)
    expect(keysWith(scene, "kin/Account/alice/x/")).toHaveLength(1)
    expect(keysWith(scene, "due/")).toHaveLength(1)
    await scene.sleep(150_000)
    expect(await scene.on("b", look("bob", Later))).toMatchObject({ got: [5] })
    expect(keysWith(scene, "/x/")).toEqual([])
  })
})

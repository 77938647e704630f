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

/** Does what a keeper does when the entry of an actor is due. */
const wake =
  (key: string, type = "Account"): Call<void> =>
  (system) => {
    const methods = system.actor(type, key) as unknown as Record<string, (name: string) => Promise<void>>
    return (methods["~wake"] as (name: string) => Promise<void>)("~x")
  }

const keysUnder = (scene: Scene, prefix: string): readonly string[] =>
  scene.stage.store().keys(prefix)

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
    expect(keysUnder(scene, "kin/Account/alice/x/")).toEqual([])
    expect(keysUnder(scene, "due/")).toEqual([])
  })
})

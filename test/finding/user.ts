import { Actor, type ActorHandle, type IndexOptions } from "../../src/index.js"
import type { Scene } from "../sharding/scene.js"

export interface Account {
  email?: string | undefined
  plan: string
  notes: number
}

const indexes = {
  email: { of: (state: Account) => state.email, unique: true },
  plan: { of: (state: Account) => state.plan },
}

/** An actor with a unique index and one that is not, whose methods change the values in several ways. */
export class User extends Actor<Account> {
  static readonly type: string = "User"
  static readonly indexes: Readonly<Record<string, IndexOptions>> = indexes
  static readonly methods = {
    take: { once: true },
    tellThenTake: { once: true },
    takeLater: { once: true },
    note: { once: true },
    seen: { alwaysInterleave: true },
    account: { readOnly: true },
  }

  protected override initialState(): Account {
    return { plan: "free", notes: 0 }
  }

  /** A turn that is stored when it ends. */
  take(email: string | undefined, plan = this.state.plan) {
    this.state.email = email
    this.state.plan = plan
    return this.state.notes
  }

  async takeLater(email: string) {
    this.state.email = email
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** What the turn sends and sets goes with its commit. */
  tellThenTake(other: string, email: string) {
    this.eventually(this.actor(User, other)).note()
    this.reminders.set("again", { afterMs: 60_000 })
    this.state.email = email
  }

  note() {
    this.state.notes += 1
    return this.state.notes
  }

  protected override onReminder() {
    this.state.notes += 100
  }

  /** A plain turn that saves. */
  async change(email: string | undefined, plan = this.state.plan) {
    this.state.email = email
    this.state.plan = plan
    await this.save()
  }

  /** Returns what it is left with. */
  async tryTo(email: string): Promise<{ error: unknown; email: string | undefined }> {
    this.state.notes += 1
    await this.save()
    this.state.email = email
    this.state.plan = "unsaved"
    const error = await this.save().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return { error, email: this.state.email }
  }

  /** Saves without waiting, and leaves more changes to a second save. */
  changeTwice(email: string) {
    this.state.email = email
    const first = this.save()
    this.state.notes += 1
    return Promise.allSettled([first, this.save()])
  }

  changeUnawaited(email: string) {
    this.state.email = email
    this.save().catch(() => {})
  }

  seen() {
    return this.state.email
  }

  account() {
    return this.state
  }

  end() {
    this.deactivate()
  }
}

export function on<T>(
  scene: Scene,
  key: string,
  task: (user: ActorHandle<User>) => Promise<T>,
  machine = "a",
): Promise<T> {
  return scene.on(machine, (system) => task(system.actor(User, key)))
}

export function find(
  scene: Scene,
  query: Parameters<Parameters<Parameters<Scene["on"]>[1]>[0]["find"]>[1],
  machine = "a",
): Promise<readonly string[]> {
  return scene.on(machine, async (system) => (await system.find(User, query)).keys)
}

/** The entries of indexes in the store. */
export function entries(scene: Scene): readonly string[] {
  const all = scene.stage.store().list("shards/").entries
  return all.flatMap(({ key, value }) => {
    const rest = key.slice("shards/".length)
    if (rest.startsWith("index/")) return [rest]
    return rest.startsWith("unique/") ? [`${rest} ${Buffer.from(value)}`] : []
  })
}

/** A node with users, of which no two have the same address, through the public API. */
import { Actor, ActorSystem, consoleLogger } from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { type StoreOptions, storeOf } from "../../../tools/store-options.js"

export interface UserNodeOptions {
  readonly namespace: string
  readonly store: StoreOptions
}

interface UserState {
  email: string | undefined
  changes: number
}

export class User extends Actor<UserState> {
  static readonly type = "User"
  static readonly once = true
  static readonly methods = { look: { readOnly: true } }
  static readonly indexes = { email: { of: ({ email }: UserState) => email, unique: true } }

  protected override initialState(): UserState {
    return { email: undefined, changes: 0 }
  }

  register(email: string): void {
    this.state.email = email
    this.state.changes += 1
  }

  leave(): void {
    this.state.email = undefined
    this.state.changes += 1
  }

  look(): UserState {
    return this.state
  }
}

const parent = new ParentProcess<UserNodeOptions, never>()
const { namespace, store } = parent.options
const system = await ActorSystem.start({
  namespace,
  listen: { host: "127.0.0.1", port: 0 },
  reconnect: { fromMs: 20, toMs: 200 },
  lease: { ttlMs: 2_000 },
  store: storeOf(store),
  actors: [User],
  logger: consoleLogger({ level: "error" }),
})

const commands = { stop: () => system.stop() }
export type UserNodeCommands = typeof commands
parent.serve(commands)

/** A node with clerks that are reminded and that write to each other, through the public API. Reports what begins. */
import {
  Actor,
  ActorSystem,
  consoleLogger,
  type Reminder,
  type Schedule,
  sharded,
} from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { removeMovedClockFiles } from "../../../tools/engines/moved-clock-files.js"
import { type StoreOptions, storeOf } from "../../../tools/store-options.js"

export interface NodeOptions {
  readonly namespace: string
  readonly store: StoreOptions
  /** Reminders that fire, and letters that arrive, come to no end; except for reminders with the argument `ready`. */
  readonly isStuck: boolean
}

/** A turn has begun; it is stored when it ends. */
export interface NodeEvent {
  readonly kind: "firing" | "receiving"
  readonly key: string
}

export interface Fired {
  readonly name: string
  readonly at: number
  readonly missed: number
  readonly argument: unknown
}

export type ClerkType = "Clerk" | "ShardedClerk"

class Clerk extends Actor<{ fired: Fired[]; letters: string[] }> {
  static readonly type: ClerkType = "Clerk"
  static readonly methods = { remind: { once: true }, write: { once: true }, receive: { once: true } }

  protected override initialState() {
    return { fired: [], letters: [] }
  }

  remind(name: string, schedule: Schedule, argument?: unknown): void {
    this.reminders.set(name, schedule, argument)
  }

  /** Sends letters to other clerks, each to all of them. */
  write(to: readonly string[], letters: readonly string[]): void {
    for (const key of to) {
      const other = this.eventually(this.actor<Clerk>(this.id.type, key))
      for (const letter of letters) other.receive(letter)
    }
  }

  async receive(letter: string): Promise<void> {
    parent.report({ kind: "receiving", key: this.key })
    if (parent.options.isStuck) await never()
    this.state.letters.push(letter)
  }

  look() {
    return this.state
  }

  protected override async onReminder({ name, at, missed, argument }: Reminder): Promise<void> {
    parent.report({ kind: "firing", key: this.key })
    if (parent.options.isStuck && argument !== "ready") await never()
    this.state.fired.push({ name, at: at.getTime(), missed, argument })
  }
}

class ShardedClerk extends Clerk {
  static override readonly type = "ShardedClerk"
  static readonly placement = sharded({ shards: 4 })
}

removeMovedClockFiles()
const parent = new ParentProcess<NodeOptions, NodeEvent>()
const system = await ActorSystem.start({
  namespace: parent.options.namespace,
  listen: { host: "127.0.0.1", port: 0 },
  reconnect: { fromMs: 20, toMs: 200 },
  store: storeOf(parent.options.store),
  actors: [Clerk, ShardedClerk],
  logger: consoleLogger({ level: "error" }),
})

const clerk = (type: ClerkType, key: string) => system.actor<Clerk>(type, key)

const commands = {
  /** The monotonic clock as text, in nanoseconds since the machine started. */
  clocks: () => ({ wall: Date.now(), monotonic: `${process.hrtime.bigint()}` }),
  remind: (type: ClerkType, key: string, schedule: Schedule, argument?: unknown) =>
    clerk(type, key).remind(key, schedule, argument),
  write: (type: ClerkType, from: string, to: readonly string[], letters: readonly string[]) =>
    clerk(type, from).write(to, letters),
  look: (type: ClerkType, key: string) => clerk(type, key).look(),
  stop: () => system.stop(),
}

export type NodeCommands = typeof commands

parent.serve(commands)

function never(): Promise<void> {
  return new Promise(() => {})
}

import { Actor, type Reminder, type Schedule, sharded } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import type { Cluster } from "../cluster/cluster.js"

/** What has happened to one clerk, in order. `setting` is the number of the call that set the reminder. */
export type ClerkEntry =
  | { readonly kind: "set"; readonly name: string; readonly setting: number; readonly plan: Plan }
  | { readonly kind: "cancelled"; readonly name: string }
  | {
      readonly kind: "fired"
      readonly name: string
      readonly setting: number
      readonly at: number
      readonly missed: number
      /** By the clock of the node. */
      readonly firedAt: number
    }

/** When a reminder of this workload fires: once, or at intervals. */
export type Plan =
  | { readonly afterMs: number }
  | { readonly everyMs: number; readonly missed: "latest" | "all" | "none"; readonly lateMs: number }

export interface ClerkState {
  /** The number of entries so far, and the last ones of them. */
  count: number
  recent: ClerkEntry[]
}

/**
 * An actor that writes down when its reminders were set, cancelled and fired. Some of its turns throw, until
 * the end: a reminder that throws again and again is not late, but waits.
 */
export function clerksOn(life: Life, cluster: Pick<Cluster, "isOver">, throwing: number) {
  const random = new SeededRandom(life.ports.random.uint32())

  class Clerk extends Actor<ClerkState> {
    static readonly type: string = PLAIN
    /** What a plain turn writes down must not outlive a reminder that was not set. */
    static readonly restoreOnThrow = true
    static readonly methods = { set: { once: true }, cancel: { once: true } }

    protected override initialState(): ClerkState {
      return { count: 0, recent: [] }
    }

    set(name: string, setting: number, plan: Plan): void {
      this.reminders.set(name, plan as Schedule, setting)
      this.#add({ kind: "set", name, setting, plan })
    }

    cancel(name: string): void {
      this.reminders.cancel(name)
      this.#add({ kind: "cancelled", name })
    }

    async setPlainly(name: string, setting: number, plan: Plan): Promise<void> {
      this.reminders.set(name, plan as Schedule, setting)
      this.#add({ kind: "set", name, setting, plan })
      await this.save()
    }

    protected override async onReminder({ name, at, missed, argument }: Reminder): Promise<void> {
      const firedAt = life.ports.clock.wallMs()
      this.#add({ kind: "fired", name, setting: argument as number, at: at.getTime(), missed, firedAt })
      if (random.chance(0.3)) await new Promise<void>((done) => life.ports.clock.setTimer(20, done))
      const throws = random.chance(throwing) && !cluster.isOver
      life.sometimes("a reminder throws", throws)
      if (throws) throw new Error("not now")
    }

    #add(entry: ClerkEntry): void {
      this.state.count += 1
      this.state.recent = [...this.state.recent, entry].slice(-KEPT)
    }
  }

  class ShardedClerk extends Clerk {
    static override readonly type = SHARDED
    static readonly placement = sharded({ shards: 4 })
  }

  return [Clerk, ShardedClerk] as const
}

export type Clerk = InstanceType<ReturnType<typeof clerksOn>[0]>

export const PLAIN = "Clerk"
export const SHARDED = "ShardedClerk"

/** As many turns may be in one commit. */
const KEPT = 24

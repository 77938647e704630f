import { Actor, type Reminder, type Schedule, sharded } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import type { Cluster } from "../cluster/cluster.js"
import { crash } from "../cluster/strikes.js"
import type { KeeperStrikes } from "./keeper-strikes.js"

/** What has happened to one clerk, in order. `setting` is the number of the call that set the reminder. */
export type ClerkEntry =
  | { readonly kind: "set"; readonly name: string; readonly setting: number; readonly plan: Plan }
  | {
      readonly kind: "cancelled"
      readonly name: string
      /** By the clock of the node. */
      readonly cancelledAt: number
    }
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
  | { readonly at: number }
  | { readonly afterMs: number }
  | { readonly everyMs: number; readonly missed: "latest" | "all" | "none"; readonly lateMs: number }

export interface ClerkState {
  /** The number of entries so far, and the last ones of them. */
  count: number
  recent: ClerkEntry[]
}

export interface ClerkTerms {
  /** How many of the turns of reminders throw. If any does, one reminder throws each time. */
  readonly throwing: number
  readonly strikes: KeeperStrikes
  /** How often the start of a clerk kills its process, once it has set something. */
  readonly bomb: { left: number }
  /** Whether there is a node that hosts the type of the season. */
  readonly season: { isOn: boolean }
}

/**
 * An actor that writes down when its reminders were set, cancelled and fired. Some of its turns throw, until
 * the end: a reminder that throws again and again is not late, but waits.
 */
export function clerksOn(life: Life, cluster: Cluster, { throwing, strikes, bomb }: ClerkTerms) {
  const random = new SeededRandom(life.ports.random.uint32())
  const machine = life.name.split(".")[0] as string

  class Clerk extends Actor<ClerkState> {
    static readonly type: string = PLAIN
    /** What a plain turn writes down must not outlive a reminder that was not set. */
    static readonly restoreOnThrow = true
    static readonly methods = { set: { once: true }, cancel: { once: true }, setMany: { once: true } }

    protected override initialState(): ClerkState {
      return { count: 0, recent: [] }
    }

    protected override async onActivate(): Promise<void> {
      if (this.key !== BOMB || this.state.count === 0 || bomb.left === 0) return
      bomb.left -= 1
      life.sometimes("a start kills the process")
      const { stage } = cluster
      // A process cannot be ended in the midst of its own step.
      await stage.sleep(0).then(() => crash(stage, machine))
    }

    set(name: string, setting: number, plan: Plan): void {
      this.reminders.set(name, plan as Schedule, argumentOf(setting))
      this.#add({ kind: "set", name, setting, plan })
    }

    cancel(name: string): void {
      this.reminders.cancel(name)
      this.#add({ kind: "cancelled", name, cancelledAt: life.ports.clock.wallMs() })
    }

    /** Sets many reminders, as many as a turn can. */
    setMany(names: readonly string[], setting: number, at: number): void {
      for (const name of names) this.set(name, setting, { at })
    }

    async setPlainly(name: string, setting: number, plan: Plan): Promise<void> {
      this.reminders.set(name, plan as Schedule, argumentOf(setting))
      this.#add({ kind: "set", name, setting, plan })
      await this.save()
    }

    protected override async onReminder({ name, at, missed, argument, attempt }: Reminder): Promise<void> {
      strikes.firing(this.id.type, this.key, machine)
      const firedAt = life.ports.clock.wallMs()
      this.#add({ kind: "fired", name, setting: settingIn(argument), at: at.getTime(), missed, firedAt })
      if (random.chance(0.3)) await new Promise<void>((done) => life.ports.clock.setTimer(20, done))
      const throws = random.chance(throwing) && !cluster.isOver
      life.sometimes("a reminder throws", throws)
      if (throws) throw new Error("not now")
      if (name !== JINX || cluster.isOver) return
      life.sometimes("a reminder throws again and again", attempt > 2)
      throw new Error("never")
    }

    #add(entry: ClerkEntry): void {
      this.state.count += 1
      this.state.recent = [...this.state.recent, entry].slice(this.key === CROWD ? -KEPT_OF_CROWD : -KEPT)
    }
  }

  class ShardedClerk extends Clerk {
    static override readonly type = SHARDED
    static readonly placement = sharded({ shards: 4 })
  }

  class SeasonalClerk extends Clerk {
    static override readonly type = SEASONAL
  }

  return [Clerk, ShardedClerk, SeasonalClerk] as const
}

/** A third of the arguments are so large that some reminders do not fit into the head of the state. */
function argumentOf(setting: number): unknown {
  return [setting, "x".repeat(setting % 3 === 0 ? 900 : 0)]
}

function settingIn(argument: unknown): number {
  return (argument as readonly [number, string])[0]
}

export type Clerk = InstanceType<ReturnType<typeof clerksOn>[0]>

export const PLAIN = "Clerk"
export const SHARDED = "ShardedClerk"
/** A type that no node hosts for a day. */
export const SEASONAL = "SeasonalClerk"
/** The clerk whose start kills its process. */
export const BOMB = "bomb"
/** The clerk that has many reminders, all of which are due at a time. */
export const CROWD = "crowd"
/** The reminder that always throws. */
export const JINX = "jinx"

/** As many turns may be in one commit. */
const KEPT = 24
const KEPT_OF_CROWD = 64

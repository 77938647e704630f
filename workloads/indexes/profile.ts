import { Actor, type Reminder, sharded } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"

/** The state of an actor of the workload. */
export interface Profile {
  /** Drawn when the life begins: no other life of any profile has it. */
  life: string
  name: string
  plan: string
  /** The operations that were applied in this life, in order. */
  applied: number[]
  /** The number of reminders that have fired. */
  fired: number
  /** Known to the later version alone. */
  motto?: string
}

/** What a call does to a profile. */
export interface Change {
  readonly operation: number
  readonly name: string
  readonly plan: string
}

/** Reminders with numbers as names. */
export interface Reminded {
  readonly from: number
  readonly count: number
  readonly afterMs: number
}

/** The number of shards of the sharded type. */
export const PROFILE_SHARDS = 4

/**
 * The classes that one node hosts. Nodes of the later version know a field more, and keep it through turns of
 * nodes that do not.
 */
export function profilesOn(
  life: Life,
  { version, plans }: { readonly version: 0 | 1; readonly plans: number },
) {
  const random = new SeededRandom(life.ports.random.uint32())

  class PlainProfile extends Actor<Profile> {
    static readonly type: string = PLAIN
    /** What a plain turn changed must not outlive a save that failed. */
    static readonly restoreOnThrow = true
    static readonly stateVersion = version
    static readonly indexes = indexesOf(plans)
    static readonly methods = {
      change: { once: true },
      remember: { once: true },
      remind: { once: true },
      remindMany: { once: true },
      close: { once: true },
      read: { readOnly: true },
    }

    protected override initialState(): Profile {
      const nonce = `${life.name}.${random.uint32().toString(16)}`
      const fresh = { life: nonce, name: "", plan: "free", applied: [], fired: 0 }
      return version === 0 ? fresh : { ...fresh, motto: nonce }
    }

    protected override upgradeState(old: unknown): Profile {
      return { ...(old as Profile), motto: (old as Profile).life }
    }

    /** Stored with its answer. */
    change({ operation, name, plan }: Change): Applied {
      this.state.name = name
      this.state.plan = plan
      return this.#apply(operation)
    }

    async changePlainly({ operation, name, plan }: Change): Promise<Applied> {
      this.state.name = name
      this.state.plan = plan
      const applied = this.#apply(operation)
      await this.save()
      return applied
    }

    /** Called under names of the caller's, each of which leaves two rows. */
    remember(operation: number): Applied {
      return this.#apply(operation)
    }

    remind(operation: number, afterMs: number): Applied {
      this.reminders.set(`reminder ${operation % 3}`, { afterMs })
      return this.#apply(operation)
    }

    /** So many that they are rows of their own, which one commit cannot delete. */
    remindMany(operation: number, { from, count, afterMs }: Reminded): Applied {
      for (let n = from; n < from + count; n += 1) this.reminders.set(`one of many ${n}`, { afterMs })
      return this.#apply(operation)
    }

    /** Ends the life, and says which one. */
    close(): string {
      this.destroy()
      return this.state.life
    }

    closePlainly(): string {
      this.destroy()
      return this.state.life
    }

    read(): Profile {
      return this.state
    }

    protected override onReminder(_reminder: Reminder): void {
      this.state.fired += 1
    }

    #apply(operation: number): Applied {
      this.state.applied = [...this.state.applied, operation]
      return { life: this.state.life, position: this.state.applied.length }
    }
  }

  class ShardedProfile extends PlainProfile {
    static override readonly type = SHARDED
    static readonly placement = sharded({ shards: PROFILE_SHARDS })
  }

  return [PlainProfile, ShardedProfile] as const
}

/** What all nodes declare, but for the version of the index of plans. */
function indexesOf(plans: number) {
  return {
    name: { of: ({ name }: Profile) => name || undefined, unique: true },
    plan: { of: ({ plan }: Profile) => plan, version: plans },
    size: { of: ({ plan, name }: Profile) => [plan, name.length] },
  }
}

/** Which place an operation has in which life. */
export interface Applied {
  readonly life: string
  readonly position: number
}

export type ProfileActor = InstanceType<ReturnType<typeof profilesOn>[0]>

export const PLAIN = "Profile"
export const SHARDED = "ShardedProfile"
export const TYPES = [PLAIN, SHARDED] as const
export type ProfileType = (typeof TYPES)[number]

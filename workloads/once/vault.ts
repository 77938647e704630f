import { Actor, type PlacementStrategy, type ShardedPlacement } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"
import { sleep } from "../cluster/cluster.js"

/** What a vault has stored: which intents it has applied, in order. */
export interface VaultState {
  applied: string[]
  /** What turns that throw have left. */
  marks: string[]
  notes: number
  pad: string
}

/** What the application of an intent returns: its position among all of the vault. */
export interface Slip {
  readonly position: number
  readonly text: string
}

/** What an intent asks for. */
export interface Wish {
  readonly intent: string
  /** How long its turn takes. */
  readonly thinkMs: number
  /** The size of the state from then on, roughly. */
  readonly padding: number
  /** The size of the answer, roughly. */
  readonly length: number
  /** The vault that a wish is passed on to. */
  readonly to: string
}

export interface VaultTerms {
  readonly pipelining: boolean
  readonly reentrant: boolean
  readonly placement: PlacementStrategy | ShardedPlacement
}

/** An actor that keeps everything it was asked for, each of it once. */
export function vaultOn(life: Life, { pipelining, reentrant, placement }: VaultTerms) {
  return class Vault extends Actor<VaultState> {
    static readonly type = "Vault"
    static readonly once = true
    static readonly pipelining = pipelining
    static readonly reentrant = reentrant
    static readonly placement = placement
    static readonly methods = {
      put: { once: { retainMs: WEEK_MS } },
      check: { once: { retainMs: WEEK_MS } },
      pass: { once: { retainMs: WEEK_MS } },
      brief: { once: { retainMs: 60_000 } },
      note: { once: false },
      look: { readOnly: true },
    }

    protected override initialState(): VaultState {
      return { applied: [], marks: [], notes: 0, pad: "" }
    }

    put(wish: Wish): Slip | Promise<Slip> {
      if (wish.thinkMs === 0) return this.#apply(wish)
      return sleep(life, wish.thinkMs).then(() => this.#apply(wish))
    }

    /** Forgotten sooner. */
    brief(wish: Wish): Slip | Promise<Slip> {
      return this.put(wish)
    }

    /** Throws after it has changed the state, if the time is not right. */
    async check(wish: Wish): Promise<Slip> {
      this.state.marks.push(wish.intent)
      if (wish.thinkMs > 0) await sleep(life, wish.thinkMs)
      const { length } = this.state.applied
      if (length % 2 === 0) throw new Error(`${wish.intent} came after ${length}`)
      this.state.marks.pop()
      return this.#apply(wish)
    }

    /** Applies the wish to another vault first. */
    async pass(wish: Wish): Promise<Slip> {
      this.state.marks.push(wish.intent)
      const other = this.actor<Vault>("Vault", wish.to)
      try {
        await other.put({ ...wish, intent: passedOn(wish.intent) })
      } catch (error) {
        throw new Error(`${wish.intent} was not passed on: ${(error as Error).name}`)
      }
      this.state.marks.pop()
      return this.#apply(wish)
    }

    /** A plain turn: it is stored because it saves. */
    async note(): Promise<number> {
      this.state.notes += 1
      const { notes } = this.state
      await this.save()
      return notes
    }

    look(): Seen {
      const { applied, marks, notes } = this.state
      return { applied: applied.length, marks: marks.length, notes }
    }

    #apply({ intent, padding, length }: Wish): Slip {
      this.state.applied.push(intent)
      this.state.pad = "x".repeat(padding)
      return { position: this.state.applied.length, text: "y".repeat(length) }
    }
  }
}

export interface Seen {
  readonly applied: number
  readonly marks: number
  readonly notes: number
}

export type Vault = InstanceType<ReturnType<typeof vaultOn>>

/** The intent of the call that is made for another one. */
export function passedOn(intent: string): string {
  return `${intent}>`
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1_000

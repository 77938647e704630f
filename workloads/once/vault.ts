import {
  Actor,
  type PlacementStrategy,
  type ShardedPlacement,
  type UndeliveredMessage,
} from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { sleep } from "../cluster/cluster.js"
import type { GateWatch } from "./gate-watch.js"
import { ATTIC, type Letter, type Posting, type PostOffice } from "./letters.js"

/** What a vault has stored: which intents it has applied, in order. */
export interface VaultState {
  applied: string[]
  /** What turns that throw have left. */
  marks: string[]
  notes: number
  pad: string
  /** The letters that it has sent, those that it was sent, and those of its own that came back. */
  sent: Letter[]
  received: string[]
  returned: string[]
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
  /** The letters that its turn sends. */
  readonly letters: readonly Posting[]
}

export interface VaultTerms {
  readonly office: PostOffice
  readonly gate: GateWatch
  readonly pipelining: boolean
  readonly reentrant: boolean
  readonly restoreOnThrow: boolean
  readonly placement: PlacementStrategy | ShardedPlacement
}

/** An actor that keeps everything it was asked for, each of it once. */
export function vaultOn(
  life: Life,
  { office, gate, pipelining, reentrant, restoreOnThrow, placement }: VaultTerms,
) {
  const random = new SeededRandom(life.ports.random.uint32())

  return class Vault extends Actor<VaultState> {
    static readonly type = "Vault"
    static readonly once = true
    static readonly pipelining = pipelining
    static readonly reentrant = reentrant
    static readonly restoreOnThrow = restoreOnThrow
    static readonly placement = placement
    static readonly methods = {
      put: { once: { retainMs: WEEK_MS } },
      check: { once: { retainMs: WEEK_MS } },
      pass: { once: { retainMs: WEEK_MS } },
      brief: { once: { retainMs: BRIEF_MS } },
      receive: { once: true },
      note: { once: false },
      look: { readOnly: true },
    }

    protected override initialState(): VaultState {
      return { applied: [], marks: [], notes: 0, pad: "", sent: [], received: [], returned: [] }
    }

    protected override onActivate(): void {
      if (this.key === ATTIC && office.isAtticLocked) throw new Error("the attic is locked")
    }

    put(wish: Wish): Slip | Promise<Slip> {
      if (wish.thinkMs === 0) return this.#apply(wish)
      return sleep(life, wish.thinkMs).then(() => this.#apply(wish))
    }

    /** Forgotten sooner. */
    brief(wish: Wish): Slip | Promise<Slip> {
      return this.put(wish)
    }

    /** Throws after it has changed the state and sent its letters, if the time is not right. */
    async check(wish: Wish): Promise<Slip> {
      this.state.marks.push(wish.intent)
      this.#send(wish.letters)
      if (wish.thinkMs > 0) await sleep(life, wish.thinkMs)
      const { length } = this.state.applied
      if (length % 2 === 0) {
        gate.throws(life.name, this.key)
        throw new Error(`${wish.intent} came after ${length}`)
      }
      this.state.marks.pop()
      return this.#apply({ ...wish, letters: [] })
    }

    /** Applies the wish to another vault first. */
    async pass(wish: Wish): Promise<Slip> {
      this.state.marks.push(wish.intent)
      const other = this.actor<Vault>("Vault", wish.to)
      try {
        await other.put({ ...wish, letters: [], intent: passedOn(wish.intent) })
      } catch (error) {
        throw new Error(`${wish.intent} was not passed on: ${(error as Error).name}`)
      }
      this.state.marks.pop()
      return this.#apply(wish)
    }

    /** The only method that letters call. Throws after it has changed the state, if the time is not right. */
    async receive({ id, from, isPicky, hops }: Letter): Promise<void> {
      this.state.marks.push(id)
      this.state.received.push(id)
      if (hops > 0) this.#send([{ to: from, isPicky, hops: hops - 1 }])
      if (random.chance(0.2)) await sleep(life, 20)
      if (isPicky && this.state.received.length % 2 === 0) throw new Error(`${id} is not wanted`)
      this.state.marks.pop()
    }

    protected override onUndelivered({ target, method, args, error }: UndeliveredMessage): void {
      const [{ id, to }] = args as [Letter]
      this.state.returned.push(id)
      const isRight = method === "receive" && target.key === to && (error as Error).message.includes(id)
      life.always("a sender is told which message threw, and what", isRight, () => `${id}: ${error}`)
      if (office.returnsAgain(random)) throw new Error("not now")
    }

    /** A plain turn: it is stored because it saves, and its letters with it. */
    async note(letters: readonly Posting[]): Promise<number> {
      this.state.notes += 1
      this.#send(letters)
      const { notes } = this.state
      await this.save()
      return notes
    }

    look(): Seen {
      const { applied, marks, notes } = this.state
      return { applied: applied.length, marks: marks.length, notes }
    }

    #apply({ intent, padding, length, letters }: Wish): Slip {
      this.state.applied.push(intent)
      gate.ran(life.name, this.key, this.state.applied.length)
      this.#send(letters)
      this.state.pad = "x".repeat(padding)
      return { position: this.state.applied.length, text: "y".repeat(length) }
    }

    #send(letters: readonly Posting[]): void {
      for (const posting of letters) {
        const letter = { ...posting, from: this.key, id: office.newId() }
        this.state.sent.push(letter)
        this.eventually(this.actor<Vault>("Vault", letter.to)).receive(letter)
      }
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

/** Clocks jump further than that. */
export const BRIEF_MS = 120_000
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000

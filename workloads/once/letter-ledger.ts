import type { Stage } from "../../src/sim/index.js"
import type { Claimed } from "../cluster/events.js"
import type { OnceEvent, Stored } from "./events.js"
import type { LetterStrikes } from "./letter-strikes.js"
import { ATTIC, type Letter } from "./letters.js"

/**
 * Every letter that vaults have sent, by the commits of their states. The letters of each pair of vaults are
 * received, or come back, one after another as they were sent; and none is that no commit has sent.
 */
export class LetterLedger {
  readonly #stage: Stage
  readonly #strikes: LetterStrikes
  readonly #counts = new Map<string, { sent: number; received: number; returned: number }>()
  /** What is on its way, by pair. */
  readonly #open = new Map<string, Letter[]>()
  /** The letters on their way or at their end, by id. */
  readonly #letters = new Map<string, Letter>()
  /** The life that received the last letter of each pair. */
  readonly #lastReceiver = new Map<string, string>()
  /** Nobody calls a vault. */
  isQuiet = false

  constructor(stage: Stage, strikes: LetterStrikes) {
    this.#stage = stage
    this.#strikes = strikes
    stage.invariant<OnceEvent | Claimed>("OutboxExact", (event) => {
      if (event.kind === "claimed") this.#claimed(event.id)
      return event.kind === "stored" ? this.#stored(event) : false
    })
  }

  /** The letters that have neither been received nor come back. */
  get open(): readonly Letter[] {
    return [...this.#open.values()].flat()
  }

  /** Those of them that can be delivered. */
  openBut(attic: boolean): readonly Letter[] {
    return this.open.filter(({ to }) => !attic || to !== ATTIC)
  }

  /** Only a keeper starts a vault that nobody calls, and no letter is for. */
  #claimed(id: string): void {
    if (!this.isQuiet) return
    const isSender = this.open.some(({ from }) => `Vault/${from}` === id)
    const isReceiver = this.open.some(({ to }) => `Vault/${to}` === id)
    this.#stage.sometimes("a keeper starts a sender", isSender && !isReceiver)
  }

  #stored({ vault, state, by }: Stored): string | undefined {
    const { sent, received, returned } = state
    this.#strikes.stored(vault, by)
    const before = this.#counts.get(vault) ?? { sent: 0, received: 0, returned: 0 }
    this.#counts.set(vault, { sent: sent.length, received: received.length, returned: returned.length })
    for (const letter of sent.slice(before.sent)) this.#sent(letter, by)
    const wrong = [
      ...received.slice(before.received).map((id) => this.#received(id, vault, by)),
      ...returned.slice(before.returned).map((id) => this.#returned(id, vault)),
    ]
    return wrong.find((one) => one !== undefined)
  }

  #sent(letter: Letter, by: string): void {
    const pair = pairOf(letter)
    const open = this.#open.get(pair) ?? []
    this.#open.set(pair, open)
    open.push(letter)
    this.#letters.set(letter.id, letter)
    this.#stage.sometimes("a letter is sent")
    this.#strikes.sent(letter, by)
  }

  #received(id: string, vault: string, by: string): string | undefined {
    const letter = this.#letters.get(id)
    if (letter === undefined) return `${vault} has received ${id}, which no commit has sent`
    if (letter.to !== vault) return `${vault} has received ${id}, which is for ${letter.to}`
    const pair = pairOf(letter)
    this.#stage.sometimes("a letter is received")
    const last = this.#lastReceiver.get(pair) ?? by
    this.#stage.sometimes("a receiver moves between two letters of one sender", last !== by)
    this.#lastReceiver.set(pair, by)
    this.#strikes.received(letter)
    return this.#end(letter, "received")
  }

  #returned(id: string, vault: string): string | undefined {
    const letter = this.#letters.get(id)
    if (letter === undefined) return `${vault} was told of ${id}, which no commit has sent`
    if (letter.from !== vault) return `${vault} was told of ${id}, which ${letter.from} has sent`
    this.#stage.sometimes("a letter comes back, as its method threw")
    return letter.isPicky ? this.#end(letter, "returned") : `${id} came back, and no method throws on it`
  }

  /** It must be the first that is on its way between the two. */
  #end(letter: Letter, how: string): string | undefined {
    const open = this.#open.get(pairOf(letter)) as Letter[]
    const [first] = open
    if (first === letter) {
      open.shift()
      return undefined
    }
    const shown = `${letter.id} from ${letter.from} to ${letter.to} was ${how}`
    return open.includes(letter) ? `${shown} before ${first?.id}` : `${shown}, and had ended before`
  }
}

function pairOf({ from, to }: Letter): string {
  return `${from} > ${to}`
}

import type { SeededRandom } from "../../src/sim/index.js"
import type { PostOffice } from "./letters.js"
import type { Wish } from "./vault.js"

/** One thing that somebody wants of a vault, however many calls it takes. */
export interface Intent {
  readonly wish: Wish
  readonly vault: string
  readonly method: Method
  /** Whether its callers name its operation, so that everybody can repeat it. */
  readonly isNamed: boolean
  /** By which it can be repeated; undefined as long as only its first caller may know it. */
  operation: string | undefined
  /** Whether it was attempted. */
  isAttempted: boolean
  /** The lives that have begun an attempt, and not learned its outcome. */
  readonly attempts: string[]
  outcome: Outcome | undefined
  /** Nobody can find out what became of it. */
  isLost: boolean
}

export type Method = "put" | "check" | "pass" | "brief"

/** What a caller was told of an intent. */
export type Outcome =
  | { readonly kind: "applied"; readonly position: number }
  | { readonly kind: "threw"; readonly message: string }

/** All intents of a run. It is outside all machines: who repeats one knows its name, whoever had it before. */
export class IntentBook {
  readonly vaults: readonly string[]
  readonly office: PostOffice
  readonly #terms: BookTerms
  readonly #intents = new Map<string, Intent>()

  constructor(vaults: readonly string[], office: PostOffice, terms: BookTerms) {
    this.vaults = vaults
    this.office = office
    this.#terms = terms
  }

  intent(id: string): Intent | undefined {
    return this.#intents.get(id)
  }

  /** Those that can be repeated, and must be, as nobody was told what became of them. */
  get open(): readonly Intent[] {
    return [...this.#intents.values()].filter(
      ({ isLost, operation, outcome }) => !isLost && operation !== undefined && outcome === undefined,
    )
  }

  get isFull(): boolean {
    return this.#intents.size >= this.#terms.most
  }

  /** One that can be repeated, of which somebody may know the outcome already. */
  old(random: SeededRandom): Intent | undefined {
    const known = [...this.#intents.values()].filter(
      ({ isLost, operation, method }) => !isLost && operation !== undefined && method !== "brief",
    )
    return known.length === 0 ? undefined : random.pick(known)
  }

  /** One whose name was used for sure: whoever uses it for something else is refused. */
  used(random: SeededRandom): Intent | undefined {
    const used = [...this.#intents.values()].filter(
      ({ isNamed, method, outcome }) => isNamed && method !== "brief" && outcome?.kind === "applied",
    )
    return used.length === 0 ? undefined : random.pick(used)
  }

  /** One that was applied, and whose name is soon forgotten. */
  brief(random: SeededRandom): Intent | undefined {
    const brief = [...this.#intents.values()].filter(
      ({ isNamed, isLost, method, outcome }) =>
        isNamed && !isLost && method === "brief" && outcome !== undefined,
    )
    return brief.length === 0 ? undefined : random.pick(brief)
  }

  /** The simplest one. */
  plain(vault: string): Intent {
    const wish = { thinkMs: 0, padding: 0, length: 0, to: "", letters: [] }
    return this.#add({ vault, method: "put", isNamed: false, wish })
  }

  new(random: SeededRandom, vault: string): Intent {
    const later = this.vaults.slice(this.vaults.indexOf(vault) + 1)
    // Vaults that pass on to one another in a circle would wait for one another.
    const drawn = random.pick(METHODS)
    const method = drawn === "pass" && later.length === 0 ? "put" : drawn
    const isNamed = random.chance(this.#terms.named)
    const wish = {
      thinkMs: random.chance(0.5) ? 0 : random.between(0, this.#terms.thinkMs),
      padding: random.chance(0.8) ? 0 : random.pick([10_000, 20_000]),
      length: random.pick([0, 0, 100, 1_000]),
      to: later.length === 0 ? "" : random.pick(later),
      letters: this.office.draw(random, this.vaults),
    }
    return this.#add({ vault, method, isNamed, wish })
  }

  #add({ vault, method, isNamed, wish }: NewIntent): Intent {
    const id = `i${this.#intents.size + 1}`
    const intent: Intent = {
      wish: { ...wish, intent: id },
      vault,
      method,
      isNamed,
      operation: isNamed && method !== "brief" ? `order ${id}` : undefined,
      isAttempted: false,
      attempts: [],
      outcome: undefined,
      isLost: false,
    }
    this.#intents.set(id, intent)
    return intent
  }
}

type NewIntent = Pick<Intent, "vault" | "method" | "isNamed"> & { readonly wish: Omit<Wish, "intent"> }

export interface BookTerms {
  readonly most: number
  /** The share of intents that callers name. */
  readonly named: number
  readonly thinkMs: number
}

const METHODS: readonly Method[] = ["put", "put", "put", "check", "check", "pass", "brief", "brief"]

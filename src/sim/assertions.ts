/** Something that must not be was. */
export class AssertionBroken extends Error {
  readonly assertion: string

  constructor(assertion: string, detail: string) {
    super(detail === "" ? assertion : `${assertion}: ${detail}`)
    this.name = "AssertionBroken"
    this.assertion = assertion
  }
}

/** A thing that happened, as far as invariants care. */
export interface SimEvent {
  readonly kind: string
  readonly [field: string]: unknown
}

interface Invariant {
  readonly name: string
  /** Says what is wrong; undefined if nothing is; false if the event is none of its business. */
  readonly check: (event: never) => string | undefined | false
}

/**
 * What a run claims, and how often each claim was put to the test. A claim that was never tested is no claim,
 * so the counts are part of the verdict.
 */
export class Assertions {
  readonly #invariants: Invariant[] = []
  readonly sometimes = new Map<string, number>()
  readonly always = new Map<string, number>()
  readonly invariants = new Map<string, number>()
  #events: SimEvent[] = []
  /**
   * The first that broke: kept here as well as thrown, because the code that it is thrown into may catch it.
   */
  broken: AssertionBroken | undefined

  /** Must hold whenever it is asked. */
  assertAlways(name: string, holds: boolean, detail: () => string): void {
    count(this.always, name, 1)
    if (!holds) throw this.#break(name, detail())
  }

  /** Must hold at least once, in some run. */
  assertSometimes(name: string, holds: boolean): void {
    count(this.sometimes, name, holds ? 1 : 0)
  }

  addInvariant<E extends { readonly kind: string }>(
    name: string,
    check: (event: E) => string | undefined | false,
  ): void {
    this.#invariants.push({ name, check: check as Invariant["check"] })
    count(this.invariants, name, 0)
  }

  record(event: SimEvent): void {
    this.#events.push(event)
  }

  /** Called after every step. */
  check(): void {
    if (this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    for (const event of events) {
      for (const { name, check } of this.#invariants) {
        const verdict = check(event as never)
        if (verdict === false) continue
        count(this.invariants, name, 1)
        if (verdict !== undefined) throw this.#break(name, verdict)
      }
    }
  }

  #break(name: string, detail: string): AssertionBroken {
    const error = new AssertionBroken(name, detail)
    this.broken ??= error
    return error
  }
}

function count(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by)
}

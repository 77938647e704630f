import { type CapturedStack, captureCaller, linkToCall } from "./ambient/user-frame.js"

/** Reports that an assertion of a workload does not hold. */
export class AssertionBroken extends Error {
  /** The name of the assertion. */
  readonly assertion: string

  constructor(assertion: string, detail: string) {
    super(detail === "" ? assertion : `${assertion}: ${detail}`)
    this.name = "AssertionBroken"
    this.assertion = assertion
  }
}

/** An event that a workload records for its invariants. */
export interface SimEvent {
  /** The kind, by which invariants recognize the events that concern them. */
  readonly kind: string
  readonly [field: string]: unknown
}

interface Invariant {
  readonly name: string
  /**
   * Returns a description of the violation, undefined if there is none, or false if the event is not
   * relevant.
   */
  readonly check: (event: never) => string | undefined | false
  readonly addedAt: CapturedStack
}

/**
 * The assertions of a run, and how often each was evaluated. An assertion that was never evaluated shows
 * nothing, so the counts are part of the report.
 */
export class Assertions {
  readonly #invariants: Invariant[] = []
  readonly sometimes = new Map<string, number>()
  readonly always = new Map<string, number>()
  readonly invariants = new Map<string, number>()
  #events: SimEvent[] = []
  /**
   * The first assertion that failed. It is kept as well as thrown, because the code into which it is thrown
   * may catch it.
   */
  broken: AssertionBroken | undefined

  /** Fails the run unless `holds`. */
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
    const addedAt = captureCaller(this.addInvariant)
    this.#invariants.push({ name, check: check as Invariant["check"], addedAt })
    count(this.invariants, name, 0)
  }

  record(event: SimEvent): void {
    this.#events.push(event)
  }

  /** Evaluates the invariants for the recorded events; called after every step. */
  check(): void {
    if (this.#events.length === 0) return
    const events = this.#events
    this.#events = []
    for (const event of events) {
      for (const { name, check, addedAt } of this.#invariants) {
        const verdict = check(event as never)
        if (verdict === false) continue
        count(this.invariants, name, 1)
        if (verdict === undefined) continue
        const broken = this.#break(name, verdict)
        linkToCall(broken, addedAt)
        throw broken
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

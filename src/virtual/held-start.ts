import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { Tenure } from "../registry/tenure.js"
import type { ActivationHome } from "./activation-home.js"
import { ActorHold, type HoldCommand, type HoldEvent, type Wanted } from "./actor-hold.js"
import { fencedError } from "./fenced-error.js"
import type { Invocation } from "./invocation.js"

/** Holds an actor: the name of the holder, and for how long. Answered with what a `Held` has, or "again". */
export const HOLD = "~hold"

/** Lets a held actor go: the name of the holder, and whether all that it has sent is decided. */
export const LET_GO = "~let-go"

/** A held actor, as its holder knows it: the record that writes are conditioned on, and its generation. */
export type Held = readonly [recordKey: string, generation: number]

/** The start of an activation that is held instead: the driver of `actor-hold.ts`. */
export class HeldStart {
  readonly #owner: { readonly tenure: Tenure; readonly home: ActivationHome }
  readonly #hold: ActorHold<Invocation>
  /** What came before the start began; undefined from then on. */
  #early: Invocation[] | undefined = []
  #timer: Timer | undefined
  #resolve: (isSettled: boolean) => void = () => {}

  constructor(owner: { readonly tenure: Tenure; readonly home: ActivationHome }, wanted?: Wanted) {
    this.#owner = owner
    this.#hold = new ActorHold(wanted)
  }

  /** Takes a message of a holder. */
  take(invocation: Invocation): void {
    if (this.#early !== undefined) {
      this.#early.push(invocation)
      return
    }
    const [token, given] = invocation.args as readonly [string, unknown]
    if (invocation.method === HOLD) {
      return this.#handle({ kind: "asked", request: invocation, token, forMs: given as number })
    }
    invocation.succeed(undefined)
    this.#handle({ kind: "released", token, isDecided: given === true })
  }

  /** Resolves when the actor is held no longer, with whether that leaves nothing behind. */
  run(): Promise<boolean> {
    const over = new Promise<boolean>((resolve) => {
      this.#resolve = resolve
    })
    const early = this.#early ?? []
    this.#early = undefined
    for (const one of early) this.take(one)
    this.#handle({ kind: "looked" })
    return over
  }

  /** The doors of the activation are shut, or its node leaves. */
  shut(): void {
    this.#handle({ kind: "shut" })
  }

  #handle(event: HoldEvent<Invocation>): void {
    const now = this.#owner.home.clock.monotonicMs()
    for (const command of this.#hold.handle(event, now)) this.#do(command)
  }

  #do(command: HoldCommand<Invocation>): void {
    const { tenure, home } = this.#owner
    switch (command.kind) {
      case "grant":
        if (!tenure.mayAct()) return command.request.fail(fencedError(tenure, "not-delivered"))
        return command.request.succeed([tenure.recordKey, tenure.generation] satisfies Held)
      case "refuse":
        return command.request.succeed(AGAIN)
      case "look":
        this.#timer = home.clock.setTimer(command.inMs, () => this.#handle({ kind: "looked" }))
        return
      case "end":
        this.#timer?.cancel()
        this.#resolve(command.isSettled)
    }
  }
}

interface Yielding {
  readonly key: string
  readonly home: ActivationHome
  deactivate(): Promise<void>
}

/** The actors of this node that make way for somebody who wants to hold them. */
export class WantedHolds {
  readonly #wanted = new Map<string, Wanted>()

  /** Ends an activation, and holds the next one on this node. */
  want(activation: Yielding, token: string, forMs: number): void {
    const now = activation.home.clock.monotonicMs()
    for (const [other, { until }] of this.#wanted) if (until <= now) this.#wanted.delete(other)
    this.#wanted.set(activation.key, { token, until: now + forMs })
    void activation.deactivate()
  }

  /** Returns what the next activation of the actor is held for, once. */
  take(key: string, now: MonotonicMs): Wanted | undefined {
    const wanted = this.#wanted.get(key)
    this.#wanted.delete(key)
    return wanted === undefined || wanted.until <= now ? undefined : wanted
  }
}

/** Ask again: the actor runs and makes way, or another one holds it. */
export const AGAIN = "again"

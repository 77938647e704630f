import type { Runnable } from "../../src/actor/dispatcher.js"
import { ActorId } from "../../src/address/actor-id.js"
import type { Tenure } from "../../src/registry/tenure.js"
import type { ActivationHome } from "../../src/virtual/activation-home.js"
import type { ActivationState } from "../../src/virtual/activation-lifecycle.js"
import type { Actor } from "../../src/virtual/actor.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import { ActorTroubles } from "../../src/virtual/actor-troubles.js"
import { ActorType } from "../../src/virtual/actor-type.js"
import type { DurableTurns } from "../../src/virtual/durable-turns.js"
import { WantedHolds } from "../../src/virtual/held-start.js"
import type { Invocation } from "../../src/virtual/invocation.js"
import type { TurnOwner } from "../../src/virtual/turn-owner.js"
import { ManualClock } from "../fake/manual-clock.js"

/** A tenure that the test controls. */
export class FakeTenure {
  readonly id = ActorId.of("test", "Subject", "one")
  readonly generation = 7
  readonly incarnation = { turnsAway: false, isLeaving: false }
  readonly ended: string[] = []
  endedBecause: string | undefined = undefined
  endCause: Error | undefined = undefined
  isOpen = true
  /** The checks of the doors, in order. */
  readonly asked: ("act" | "begin")[] = []
  readonly #waiting: ((isOpen: boolean) => void)[] = []

  mayAct(): boolean {
    this.asked.push("act")
    return this.isOpen && this.endedBecause === undefined
  }

  mayBegin(): boolean {
    this.asked.push("begin")
    return this.isOpen && this.endedBecause === undefined && !this.incarnation.isLeaving
  }

  opened(): Promise<boolean> {
    if (this.endedBecause !== undefined) return Promise.resolve(false)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Renews or refuses the lease, and notifies those that wait at the doors. */
  decide(isOpen: boolean): void {
    this.isOpen = isOpen
    for (const resolve of this.#waiting.splice(0)) resolve(isOpen)
  }

  get isEnding(): boolean {
    return this.incarnation.isLeaving
  }

  isNeededBy(): boolean {
    return false
  }

  settle(): void {
    this.ended.push("settled")
  }

  end(because: string): void {
    this.ended.push(because)
    this.endedBecause ??= because
  }
}

/** A stand-in for the activation and the other parts in the test of one part. */
export class FakeActivation implements TurnOwner {
  readonly type: ActorType
  readonly key = "Subject/one"
  readonly ownChain = [this.key]
  readonly fakeTenure = new FakeTenure()
  readonly tenure = this.fakeTenure as unknown as Tenure
  readonly clock = new ManualClock()
  readonly durable: DurableTurns | undefined = undefined
  readonly scheduled: Runnable[] = []
  readonly logged: string[] = []
  /** The calls of the part under test, in order. */
  readonly said: string[] = []
  instance: Actor | undefined
  state: ActivationState = "valid"
  isInHook = false
  usedAt = 0
  readonly home: ActivationHome

  constructor(make: ActorClass, home: Partial<ActivationHome> = {}) {
    this.type = new ActorType(make)
    this.instance = make.prototype as Actor
    this.home = {
      clock: this.clock,
      mailboxCapacity: 3,
      requestTimeoutMs: 1_000,
      sweeps: 5,
      holds: new WantedHolds(),
      spans: undefined,
      troubles: new ActorTroubles(this.clock),
      dispatcher: { schedule: (one: Runnable) => this.scheduled.push(one) },
      deadlines: { add: (_turn: object, delayMs: number) => this.said.push(`deadline ${delayMs}`) },
      logger: { log: (_level: string, message: string) => this.logged.push(message) },
      startFailure: (_id: unknown, thrown: unknown) => thrown,
      reroute: ({ key, method }: Invocation) => this.said.push(`reroute ${key}.${method}`),
      context: { run: <T>(_turn: object, task: () => T) => task(), current: () => undefined },
      ...home,
    } as unknown as ActivationHome
  }

  get durableTurns(): DurableTurns {
    throw new Error("this activation has no durable turns")
  }

  takes(): boolean {
    return false
  }

  turnEnded(): void {
    this.said.push("turn ended")
  }

  turnOverdue(method: string, chain: readonly string[]): void {
    this.said.push(`overdue ${method}: ${chain.join(" > ")}`)
  }

  messageQueued(): void {
    this.said.push("message queued")
  }

  /** Runs the scheduled tasks, as the dispatcher would. */
  dispatch(quota = 32): void {
    for (const one of this.scheduled.splice(0)) one.run(quota)
  }
}

/** A call that records its outcome. */
export class FakeCall implements Invocation {
  readonly id = ActorId.of("test", "Subject", "one")
  readonly key = "Subject/one"
  readonly trace = undefined
  readonly method: string
  readonly args: readonly unknown[]
  readonly chain: readonly string[]
  readonly isOneWay: boolean
  readonly isBackground: boolean
  isOver = false
  hasBegun = false
  /** The answers, or the names of the errors that the call failed with. */
  readonly answers: unknown[] = []
  error: (Error & { delivery?: string }) | undefined

  constructor(
    method: string,
    { args = [], chain = [], isOneWay = false, isBackground = false }: Partial<FakeCall> = {},
  ) {
    this.method = method
    this.args = args
    this.chain = chain
    this.isOneWay = isOneWay
    this.isBackground = isBackground
  }

  begun(): void {
    this.hasBegun = true
  }

  succeed(value: unknown): void {
    this.answers.push(value)
  }

  fail(error: Error): void {
    this.error = error
    this.answers.push(error.name)
  }
}

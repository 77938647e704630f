import type { ClaimCommand, ClaimEvent, ClaimOutcome } from "../../src/registry/claim.js"
import type { LeaseCommand, LeaseEvent } from "../../src/registry/lease-protocol.js"
import type { SaveCommand, SaveEvent, SaveOutcome } from "../../src/registry/save.js"
import {
  type CacheTold,
  mayClaim,
  tellCache,
  tellClaim,
  tellLease,
  tellSave,
  writeIdOf,
} from "./decisions.js"
import type { Check } from "./here.js"
import { isOpen } from "./model-store.js"
import { propose, send } from "./proposals.js"
import type { Setting } from "./setting.js"
import { type Activation, nodeOf, processAt, type World } from "./world.js"

/**
 * What the drivers of `src/registry` do with the commands of the decisions, in the same step. Requests and
 * reads are left to later steps.
 */
export class Drivers {
  readonly #world: World
  readonly #setting: Setting
  readonly #check: Check

  constructor(world: World, setting: Setting, check: Check) {
    this.#world = world
    this.#setting = setting
    this.#check = check
  }

  /** Stands for `Incarnation`. */
  tellLease(at: number, event: LeaseEvent): void {
    const process = processAt(this.#world, at)
    if (this.#setting.left.giveUps !== undefined) {
      if (event.kind === "joined") process.lastKnownLease = event.revision
      if (event.kind === "renewed") process.lastKnownLease = event.lease
    }
    for (const command of tellLease(process, this.#mistaken(at, event), this.#setting))
      this.doLease(at, command)
  }

  /** Under the bug `answer-of-another`: the answer is taken for that of the renewal in flight. */
  #mistaken(at: number, event: LeaseEvent): LeaseEvent {
    if (event.kind !== "renewed" || !this.#setting.bugs.includes("answer-of-another")) return event
    const by = nodeOf(at, processAt(this.#world, at))
    const present = this.#world.requests.find(
      (request) => request.kind === "renew" && request.by === by && request.isAwaited,
    )
    if (present?.sentAt === undefined) return event
    return { ...event, request: present.number, sentAt: present.sentAt }
  }

  doLease(at: number, command: LeaseCommand): void {
    const by = nodeOf(at, processAt(this.#world, at))
    switch (command.kind) {
      case "join":
        this.#send({ kind: "join", at, by, number: command.request, proposal: propose.join(by) })
        break
      case "renew": {
        const { request: number, sentAt, announces } = command
        const proposal = propose.renew(by, command, announces)
        this.#send({ kind: "renew", at, by, number, sentAt: { ...sentAt }, announces, proposal })
        break
      }
      case "look": {
        const proposal = { conditions: [], writes: [] }
        this.#send({ kind: "look", at, by, number: command.request, proposal, seen: {} })
        break
      }
      case "fence":
        this.#fence(at, by)
        break
      case "give-up":
        this.giveUp(at, by, command.lease)
    }
  }

  giveUp(at: number, by: string, lease: number): void {
    this.#send({ kind: "give-up", at, by, isAwaited: false, proposal: propose.end(by, lease) })
  }

  /** Stands for `ClaimDriver` and `Registry`. */
  tellClaim(at: number, event: ClaimEvent): void {
    this.doClaim(at, tellClaim(at, processAt(this.#world, at), event, this.#setting))
  }

  doClaim(at: number, command: ClaimCommand): void {
    const process = processAt(this.#world, at)
    if (command.kind === "end") return this.#endClaim(at, command.outcome)
    if (command.kind !== "take") return
    const { guess } = command
    const state = process.lease?.state
    if (!mayClaim(process, this.#setting) || state === undefined || !("record" in state)) {
      return this.tellClaim(at, { kind: "failed" })
    }
    const by = nodeOf(at, process)
    const proposal = propose.claim({ node: by, record: state.record }, guess)
    this.#send({ kind: "claim", at, by, guess: { ...guess }, proposal })
  }

  #endClaim(at: number, outcome: ClaimOutcome): void {
    const process = processAt(this.#world, at)
    const node = nodeOf(at, process)
    const activation = process.activation as Activation
    process.activation = undefined
    switch (outcome.kind) {
      case "claimed": {
        const { generation, state } = outcome
        this.tellCache(at, { kind: "claimed", hint: { node, revision: generation } })
        const { history } = this.#world
        history.lives += 1
        process.activation = {
          ...activation,
          stage: "claimed",
          claim: undefined,
          generation,
          life: history.lives,
        }
        if (state !== undefined) this.load(at, state.entry?.revision ?? 0)
        break
      }
      case "elsewhere": {
        const { placed } = outcome
        this.tellCache(at, { kind: "read", hint: { node: placed.node, revision: placed.generation } })
        break
      }
      case "not-a-member":
        this.tellLease(at, { kind: "doubt" })
    }
  }

  /** Stands for `DurableState.load`: the state was read at this revision, with the claim or after it. */
  load(at: number, revision: number): void {
    const { history } = this.#world
    const activation = processAt(this.#world, at).activation as Activation
    activation.stage = "running"
    if (!this.#setting.bugs.includes("read-before-claim")) activation.base = revision
    if (activation.generation === history.generation) history.loaded = activation.life
  }

  /** Stands for `DurableState`. A pause is no step: whatever follows it may take any time anyway. */
  tellSave(at: number, event: SaveEvent): void {
    this.doSave(at, tellSave(at, processAt(this.#world, at), event, this.#setting))
  }

  doSave(at: number, command: SaveCommand): void {
    const saving = (processAt(this.#world, at).activation as Activation).save as NonNullable<
      Activation["save"]
    >
    switch (command.kind) {
      case "write":
      case "read":
        saving.todo = command.kind
        break
      case "wait":
        this.tellSave(at, { kind: "waited" })
        break
      case "end":
        this.#endSave(at, command.outcome)
    }
  }

  #endSave(at: number, outcome: SaveOutcome): void {
    const process = processAt(this.#world, at)
    const activation = process.activation as Activation
    const { hasLanded } = activation.save as NonNullable<Activation["save"]>
    if (outcome.kind === "saved") {
      this.#check("TrueAnswers", hasLanded)
      const { history } = this.#world
      history.acked = Math.max(history.acked, outcome.revision)
      process.activation = { ...activation, stage: "running", base: outcome.revision, save: undefined }
      return
    }
    if (outcome.kind === "refused") {
      const writeId = writeIdOf(at, process)
      const mayLand = this.#world.requests.some(
        (request) =>
          request.writeId === writeId && request.answer === undefined && isOpen(this.#world, request),
      )
      this.#check("TrueAnswers", !hasLanded && !mayLand)
    }
    this.endActivation(at)
  }

  tellCache(at: number, event: CacheTold): void {
    if (this.#setting.guess !== "cache") return
    const learned = tellCache(processAt(this.#world, at), event, this.#setting)
    if (learned !== undefined) this.#check("CacheOrder", learned.now >= learned.before)
  }

  /**
   * Shuts the doors of the activation. Its requests in flight are lost; where one arrives after all, the step
   * before this one was that it was not answered.
   */
  endActivation(at: number): void {
    const process = processAt(this.#world, at)
    const by = nodeOf(at, process)
    const generation = process.activation?.generation ?? 0
    if (generation !== 0 && this.#setting.bugs.includes("doors-of-node")) process.endedTurn = generation
    process.activation = undefined
    this.#world.requests = this.#world.requests.filter(
      ({ kind, by: sender, isAwaited }) =>
        !isAwaited || sender !== by || (kind !== "claim" && kind !== "save"),
    )
  }

  #fence(at: number, by: string): void {
    const process = processAt(this.#world, at)
    const save = process.activation?.save
    // A save that was about to write or read gives up.
    if (save !== undefined && save.todo !== "nothing") this.tellSave(at, { kind: "gave-up" })
    this.endActivation(at)
    if (process.lastKnownLease !== 0 && this.#world.left.giveUps > 0) {
      process.former = { node: by, lease: process.lastKnownLease }
    }
    process.lastKnownLease = 0
    loseRequests(this.#world, by)
  }

  #send(asked: Parameters<typeof send>[1]): void {
    send(this.#world, asked, this.#setting)
  }
}

/**
 * Drops the requests of a node that is fenced or has died. Those that it no longer awaits may still arrive.
 */
export function loseRequests(world: World, by: string): void {
  world.requests = world.requests.filter(
    (request) => request.by !== by || (!request.isAwaited && request.answer === undefined),
  )
}

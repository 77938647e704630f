import { Adoption, type AdoptionEvent, type AdoptionOutcome } from "../../src/registry/adoption.js"
import {
  Claim,
  type ClaimCommand,
  type ClaimEvent,
  type ClaimOutcome,
  type PlacementSeen,
} from "../../src/registry/claim.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "../../src/registry/save.js"
import { Transfer, type TransferCommand, type TransferEvent } from "../../src/registry/transfer.js"
import { isOpen, revisionAt } from "../registry-code/model-store.js"
import type { Check } from "./here.js"
import { propose, send } from "./proposals.js"
import type { Bug, Setting } from "./setting.js"
import {
  type Entity,
  type Home,
  heldAt,
  nextWrite,
  nodeAt,
  nodeOf,
  type Saving,
  type World,
} from "./world.js"

/**
 * What drivers do with the commands of the decisions, in the same step. Each call makes the production
 * decision from its snapshot, tells it one thing, and keeps its snapshot. Requests and reads are left to
 * later steps.
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

  /** Claims the shard; or claims it anew, if the node has it. */
  beginClaim(at: number, placed: PlacementSeen | undefined): void {
    const node = nodeAt(this.#world, at)
    const claim = new Claim(nodeOf(at, node))
    const command = claim.begin(placed)
    node.home =
      node.home?.stage === "holding"
        ? { stage: "claiming anew", generation: node.home.generation, claim: claim.snapshot }
        : { stage: "claiming", claim: claim.snapshot }
    this.#doClaim(at, command)
  }

  tellClaim(at: number, event: ClaimEvent): void {
    const node = nodeAt(this.#world, at)
    const home = node.home as Extract<Home, { claim: unknown }>
    const claim = new Claim(nodeOf(at, node), home.claim)
    const command = claim.handle(event)
    if (command === undefined) throw new Error("a claim was told what it had not asked for")
    // The count of attempts starts again: that a claim gives up after the last one is in its golden file.
    home.claim = { ...claim.snapshot, attempts: 1 }
    this.#doClaim(at, command)
  }

  #doClaim(at: number, command: ClaimCommand): void {
    const node = nodeAt(this.#world, at)
    if (command.kind === "end") return this.#endClaim(at, command.outcome)
    if (command.kind !== "take") return
    const by = nodeOf(at, node)
    const record = revisionAt(this.#world, `nodes/${by}`)
    if (node.phase !== "member" || record === undefined) return this.tellClaim(at, { kind: "failed" })
    const { guess } = command
    if (guess.kind === "own" && !this.#has("adopted-beside-a-claim")) this.#spend(at, guess.generation)
    const proposal = propose.claim({ node: by, record }, guess)
    send(this.#world, { kind: "claim", at, by, guess: { ...guess }, proposal }, this.#setting)
  }

  #endClaim(at: number, outcome: ClaimOutcome): void {
    const node = nodeAt(this.#world, at)
    const generation = heldAt(node)
    if (outcome.kind === "claimed") {
      this.#open(at, outcome.generation)
      // The new generation refuses whatever a hung turn has sent: its entity may start again.
      for (const [number, { stage }] of Object.entries(node.entities)) {
        if (stage === "hung") delete node.entities[Number(number)]
      }
    } else if (outcome.kind === "unavailable" && generation !== undefined) {
      node.home = { stage: "holding", generation }
    } else {
      this.shut(at)
    }
  }

  tellAdoption(at: number, event: AdoptionEvent): void {
    const node = nodeAt(this.#world, at)
    const { spent } = node
    const resumed = node.home?.stage === "adopting" ? node.home.adoption : undefined
    const adoption = new Adoption(nodeOf(at, node), this.#has("adopted-twice") ? 0 : spent, resumed)
    const command = adoption.handle(event)
    node.home = { stage: "adopting", adoption: adoption.snapshot }
    if (command?.kind === "end") this.#endAdoption(at, command.outcome)
  }

  #endAdoption(at: number, outcome: AdoptionOutcome): void {
    const node = nodeAt(this.#world, at)
    node.home = undefined
    if (outcome.kind === "adopted") this.#open(at, outcome.generation)
    if (outcome.kind !== "claim") return
    const { generation } = outcome
    if (node.phase === "member") this.beginClaim(at, { node: nodeOf(at, node), generation })
    else node.home = { stage: "kept", generation }
  }

  /** The doors of all entities shut in the step in which the transfer is sent, and before that. */
  beginTransfer(at: number, target: { node: string; record: number }): void {
    const node = nodeAt(this.#world, at)
    const generation = heldAt(node) as number
    this.#spend(at, generation)
    if (!this.#has("late-doors")) this.shut(at)
    const by = nodeOf(at, node)
    const transfer = new Transfer(by, target.node)
    if (transfer.begin().kind !== "send") throw new Error("a transfer begins with its commit")
    node.home = { stage: "moving", generation, target: target.node, transfer: transfer.snapshot }
    const mover = { node: by, generation }
    const proposal = propose.transfer(generation, target)
    send(this.#world, { kind: "transfer", at, by, mover, proposal }, this.#setting)
  }

  tellTransfer(at: number, event: TransferEvent): void {
    const node = nodeAt(this.#world, at)
    const home = node.home as Home & { stage: "moving" }
    const transfer = new Transfer(nodeOf(at, node), home.target, home.transfer)
    const command = transfer.handle(event)
    if (command === undefined) throw new Error("a transfer was told what it had not asked for")
    home.transfer = transfer.snapshot
    this.#doTransfer(at, home, command)
  }

  #doTransfer(at: number, { target }: Home & { stage: "moving" }, command: TransferCommand): void {
    // A pause is no step: whatever follows it may take any time anyway.
    if (command.kind === "wait") return this.tellTransfer(at, { kind: "waited" })
    if (command.kind !== "end") return
    const { outcome } = command
    this.shut(at)
    if (outcome.kind === "moved") {
      const to = this.#world.nodes.findIndex((node, index) => nodeOf(index, node) === target)
      if (to >= 0) this.#world.notices.push({ to, generation: outcome.generation })
    }
    if (outcome.kind !== "kept") return
    const { generation } = outcome
    if (this.#has("kept-reopens")) this.#open(at, generation)
    else nodeAt(this.#world, at).home = { stage: "kept", generation }
  }

  release(at: number): void {
    const node = nodeAt(this.#world, at)
    const generation = heldAt(node) as number
    this.#spend(at, generation)
    this.shut(at)
    const proposal = propose.release(generation)
    send(
      this.#world,
      { kind: "release", at, by: nodeOf(at, node), isAwaited: false, proposal },
      this.#setting,
    )
  }

  /** Ends everything under the shard. Requests in flight are lost, but for those that had hung before. */
  shut(at: number): void {
    const node = nodeAt(this.#world, at)
    node.home = undefined
    node.entities = {}
    this.#world.requests = this.#world.requests.filter((request) => request.at !== at || !request.isAwaited)
  }

  beginSave(at: number, number: number): void {
    const node = nodeAt(this.#world, at)
    const entity = node.entities[number] as Entity
    const by = nodeOf(at, node)
    if (this.#has("repeated-ids")) entity.saves += 1
    const own = this.#has("repeated-ids") ? entity.saves : nextWrite(this.#world, by)
    const writeId = this.#has("repeated-ids") ? `${by}.${heldAt(node)}.${own}` : `${by}.${own}`
    const save = new Save(writeId, entity.base || undefined)
    entity.save = { writeId, number: own, snapshot: save.snapshot, todo: "nothing", hasLanded: false }
    this.#doSave(at, number, save.begin())
  }

  tellSave(at: number, number: number, event: SaveEvent): void {
    const entity = nodeAt(this.#world, at).entities[number] as Entity
    const saving = entity.save as Saving
    const isTaken =
      this.#has("revision-ignored") && event.kind === "read" && event.stored?.writeId === saving.writeId
    const over = isTaken ? undefined : entity.base || undefined
    const save = new Save(saving.writeId, over, saving.snapshot)
    const command = save.handle(event)
    if (command === undefined) throw new Error("a save was told what it had not asked for")
    saving.snapshot = save.snapshot
    this.#doSave(at, number, command)
  }

  #doSave(at: number, number: number, command: SaveCommand): void {
    const saving = (nodeAt(this.#world, at).entities[number] as Entity).save as Saving
    switch (command.kind) {
      case "write":
      case "read":
        saving.todo = command.kind
        break
      case "wait":
        this.tellSave(at, number, { kind: "waited" })
        break
      case "end":
        this.#endSave(at, number, command.outcome)
    }
  }

  #endSave(at: number, number: number, outcome: SaveOutcome): void {
    const { entities } = nodeAt(this.#world, at)
    const entity = entities[number] as Entity
    const saving = entity.save as Saving
    this.#check("Undisturbed", outcome.kind === "saved")
    if (outcome.kind === "saved") {
      this.#check("TrueAnswers", saving.hasLanded)
      const { acked } = this.#world.history
      acked[number] = Math.max(acked[number] as number, outcome.revision)
      entity.base = outcome.revision
      entity.save = undefined
      if (entity.stage === "ending") delete entities[number]
      return
    }
    if (outcome.kind === "refused") {
      const mayLand = this.#world.requests.some(
        ({ save, answer, ...request }) =>
          save?.entity === number &&
          save.life === entity.life &&
          save.number === saving.number &&
          answer === undefined &&
          isOpen(this.#world, request),
      )
      this.#check("TrueAnswers", !saving.hasLanded && !mayLand)
    }
    delete entities[number]
  }

  #open(at: number, generation: number): void {
    nodeAt(this.#world, at).home = { stage: "open", generation }
    this.#spend(at, generation)
  }

  #spend(at: number, generation: number): void {
    const node = nodeAt(this.#world, at)
    node.spent = Math.max(node.spent, generation)
  }

  #has(bug: Bug): boolean {
    return this.#setting.bugs.includes(bug)
  }
}

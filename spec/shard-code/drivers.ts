import type { NodeId } from "../../src/address/node-id.js"
import { Adoption, type AdoptionEvent, type AdoptionOutcome } from "../../src/registry/adoption.js"
import {
  Claim,
  type ClaimCommand,
  type ClaimEvent,
  type ClaimOutcome,
  type PlacementSeen,
} from "../../src/registry/claim.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "../../src/registry/save.js"
import { Transfer, type TransferEvent, type TransferOutcome } from "../../src/registry/transfer.js"
import { ShardHome, type ShardHomeCommand, type ShardHomeEvent } from "../../src/sharding/shard-home.js"
import { idOf, nameOf } from "../registry-code/decisions.js"
import { isOpen, revisionAt } from "../registry-code/model-store.js"
import type { Check } from "./here.js"
import { propose, send } from "./proposals.js"
import type { Bug, Setting } from "./setting.js"
import {
  type Entity,
  type HeldHome,
  type Home,
  heldAt,
  JOINED_AT,
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

  /** Stands for `ShardGroup`: does what the decision of the shard commands. */
  tellHome(at: number, event: ShardHomeEvent): void {
    const home = nodeAt(this.#world, at).home as HeldHome
    const { state, generation, target } = home.decision
    const resumed = { state, target: target === undefined ? undefined : idOf(target) }
    const decision = new ShardHome(generation, resumed)
    const commands = decision.handle(event)
    const { snapshot } = decision
    const isTargeted = snapshot.target !== undefined && ["closing", "moving"].includes(snapshot.state)
    home.decision = {
      state: snapshot.state,
      generation: snapshot.generation,
      ...(isTargeted ? { target: nameOf(snapshot.target as NodeId) } : {}),
    }
    for (const command of commands) this.#doHome(at, home, command)
  }

  #doHome(at: number, home: HeldHome, command: ShardHomeCommand): void {
    const node = nodeAt(this.#world, at)
    switch (command.kind) {
      case "close":
      case "reopen":
        home.isOpen = command.kind === "reopen"
        break
      case "shut":
        if (!this.#has("late-doors")) this.#shutDoors(at, home)
        break
      case "transfer":
        this.#beginTransfer(at, home, nameOf(command.target))
        break
      case "hold-saves":
        if (this.#has("anew-unwaited")) this.tellHome(at, { kind: "saves-decided" })
        break
      case "claim":
        this.claimAnew(at)
        break
      case "renewed":
        Object.assign(home, { generation: command.generation, isOpen: true, isShut: false })
        this.#spend(at, command.generation)
        // The new generation refuses whatever a hung turn has sent: its entity may start again.
        for (const [number, { stage }] of Object.entries(node.entities)) {
          if (stage === "hung") delete node.entities[Number(number)]
        }
        break
      case "leave":
        this.shut(at)
    }
  }

  #shutDoors(at: number, home: HeldHome): void {
    this.shut(at)
    nodeAt(this.#world, at).home = home
    Object.assign(home, { isOpen: false, isShut: true })
  }

  /** Claims the shard that this node has, at the generation that it knows. */
  claimAnew(at: number): void {
    const node = nodeAt(this.#world, at)
    const { generation } = (node.home as HeldHome).decision
    if (node.phase !== "member") return this.tellHome(at, { kind: "lost" })
    this.beginClaim(at, { node: nodeOf(at, node), generation })
  }

  beginClaim(at: number, placed: PlacementSeen | undefined): void {
    const node = nodeAt(this.#world, at)
    const claim = new Claim(nodeOf(at, node))
    const command = claim.begin(placed)
    if (node.home?.stage === "held") node.home.claim = claim.snapshot
    else node.home = { stage: "claiming", claim: claim.snapshot }
    this.#doClaim(at, command)
  }

  tellClaim(at: number, event: ClaimEvent): void {
    const node = nodeAt(this.#world, at)
    const home = node.home as Exclude<Home, { stage: "adopting" }>
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
    const { home } = nodeAt(this.#world, at)
    if (home?.stage !== "held") {
      this.shut(at)
      if (outcome.kind === "claimed") this.#open(at, outcome.generation)
      return
    }
    delete home.claim
    if (outcome.kind === "claimed") this.tellHome(at, outcome)
    else this.tellHome(at, { kind: outcome.kind === "unavailable" ? "not-claimed" : "lost" })
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
    const isRefused = outcome.kind !== "claim" || node.phase !== "member"
    if (!isRefused) this.beginClaim(at, { node: nodeOf(at, node), generation: outcome.generation })
  }

  #beginTransfer(at: number, home: HeldHome, target: string): void {
    const by = nodeOf(at, nodeAt(this.#world, at))
    const { generation } = home
    const transfer = new Transfer(by, target)
    if (transfer.begin().kind !== "send") throw new Error("a transfer begins with its commit")
    home.transfer = transfer.snapshot
    const mover = { node: by, generation }
    // The mover may not know yet that the target leaves or is gone.
    const proposal = propose.transfer(generation, { node: target, record: JOINED_AT })
    send(this.#world, { kind: "transfer", at, by, mover, proposal }, this.#setting)
  }

  tellTransfer(at: number, event: TransferEvent): void {
    const node = nodeAt(this.#world, at)
    const home = node.home as HeldHome
    const transfer = new Transfer(nodeOf(at, node), home.decision.target as string, home.transfer)
    const command = transfer.handle(event)
    if (command === undefined) throw new Error("a transfer was told what it had not asked for")
    home.transfer = transfer.snapshot
    // A pause is no step: whatever follows it may take any time anyway.
    if (command.kind === "wait") return this.tellTransfer(at, { kind: "waited" })
    if (command.kind === "end") this.#endTransfer(at, home, command.outcome)
  }

  #endTransfer(at: number, home: HeldHome, outcome: TransferOutcome): void {
    const { target } = home.decision
    delete home.transfer
    this.#shutDoors(at, home)
    switch (outcome.kind) {
      case "moved": {
        const to = this.#world.nodes.findIndex((node, index) => nodeOf(index, node) === target)
        if (to >= 0) this.#world.notices.push({ to, generation: outcome.generation })
        return this.tellHome(at, { kind: "moved" })
      }
      case "kept":
        if (this.#has("kept-reopens")) return this.#open(at, outcome.generation)
        return this.tellHome(at, outcome)
      case "lost":
        return this.tellHome(at, { kind: "lost" })
    }
  }

  release(at: number): void {
    const node = nodeAt(this.#world, at)
    const proposal = propose.release(heldAt(node) as number)
    this.shut(at)
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
    const decision = { state: new ShardHome(generation).state, generation }
    nodeAt(this.#world, at).home = { stage: "held", generation, decision, isOpen: true, isShut: false }
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

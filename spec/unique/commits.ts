import type { Write } from "../../src/ports/store.js"
import { saveCommit } from "../../src/registry/commits.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "../../src/registry/save.js"
import {
  decodeIndexed,
  encodeIndexed,
  type IndexDeclaration,
  type Indexed,
  indexChange,
} from "../../src/virtual/index-entries.js"
import type { IndexedActor } from "../../src/virtual/index-keys.js"
import { plain } from "../registry-code/model-store.js"
import type { Check } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import {
  type Activation,
  placementKey,
  type Saving,
  type StateText,
  stateIn,
  stateKey,
  type Value,
  type World,
} from "./world.js"

/**
 * What the drivers of one activation do: `DurableTurns` and `DurableState`. Each call makes the production
 * decision from what it was told before, tells it one thing, and keeps that.
 */
export class Commits {
  readonly #world: World
  readonly #setting: Setting
  readonly #check: Check
  readonly #actor: number

  constructor(world: World, setting: Setting, actor: number, check: Check) {
    this.#world = world
    this.#setting = setting
    this.#actor = actor
    this.#check = check
  }

  /** A turn ends that has changed the value. */
  decides(value: Value): void {
    const { indexed } = this.#activation
    const before = indexedOf(indexed)
    const state = { value, first: undefined, builds: false, unowned: [] }
    const change = indexChange(actorOf(this.#actor), DECLARED, before, state)
    this.#begin(value, {
      indexed: hexOf(change?.after ?? before),
      writes: change?.writes ?? [],
      guards: change?.guards.map(({ key }) => key) ?? [],
    })
  }

  #begin(value: Value, { indexed, writes, guards }: Decided): void {
    const activation = this.#activation
    activation.writes += 1
    const writeId = `${this.#actor}.${activation.generation}.${activation.writes}`
    const save = new Save(writeId, activation.base || undefined)
    activation.save = {
      writeId,
      snapshot: save.snapshot,
      todo: "nothing",
      value,
      indexed,
      writes: plain({ conditions: [], writes }).writes,
      guards: this.#has("no-guard") ? [] : [...guards],
      seen: "",
    }
    this.#do(save.begin())
    this.write()
  }

  /** Sends the commit, or the state as it was. */
  write(): void {
    const { generation, base, save } = this.#activation
    const { todo, writeId, value, indexed, writes, guards, seen } = save as Saving
    ;(save as Saving).todo = "nothing"
    const isAgain = todo === "write-again"
    const state: StateText = { writeId, value, indexed }
    const changes = isAgain ? { writes: [], absent: [] } : { writes: writes.map(written), absent: [], guards }
    const proposal = plain(
      saveCommit(
        { key: placementKey(this.#actor), generation },
        { key: stateKey(this.#actor), over: base || undefined },
        Buffer.from(isAgain ? seen : JSON.stringify(state)),
        this.#has("entries-apart") ? { ...changes, writes: [] } : changes,
      ),
    )
    const about = { actor: this.#actor, writeId: isAgain ? "" : writeId, guards: isAgain ? [] : guards }
    this.#world.requests.push({ ...about, isAwaited: true, ...proposal })
    if (!this.#has("entries-apart") || writes.length === 0 || isAgain) return
    const entries = proposal.conditions.filter(({ key }) => guards.includes(key))
    this.#world.requests.push({ ...about, writeId: "", isAwaited: false, conditions: entries, writes })
  }

  tell(event: SaveEvent): void {
    const { base } = this.#activation
    const saving = this.#activation.save as Saving
    const save = new Save(saving.writeId, base || undefined, saving.snapshot)
    const isToldAtOnce = event.kind === "guarded" && this.#has("told-at-once")
    const command: SaveCommand | undefined = isToldAtOnce
      ? { kind: "end", outcome: { kind: "guarded", revision: base || undefined } }
      : save.handle(event)
    if (command === undefined) throw new Error("a save was told what it had not asked for")
    saving.snapshot = save.snapshot
    this.#do(command)
  }

  #do(command: SaveCommand): void {
    const saving = this.#activation.save as Saving
    switch (command.kind) {
      case "write":
      case "write-again":
      case "read":
        saving.todo = command.kind
        break
      case "wait":
        this.tell({ kind: "waited" })
        break
      case "end":
        this.#ended(saving, command.outcome)
    }
  }

  #ended({ writeId, value, indexed }: Saving, outcome: SaveOutcome): void {
    if (outcome.kind === "refused" || outcome.kind === "unknown") {
      this.#world.activations[this.#actor] = null
      return
    }
    const activation = this.#activation
    const isRejected = outcome.kind === "guarded"
    if (isRejected) this.#world.rejected.push(writeId)
    activation.save = undefined
    activation.base = outcome.revision ?? 0
    if (!isRejected) activation.value = value
    if (!isRejected || this.#has("entries-of-rejected")) activation.indexed = indexed
    this.#checkMemory()
    if (!activation.isBehind) return
    activation.isBehind = false
    this.#begin(value, { indexed: activation.indexed, writes: [], guards: [] })
  }

  /** What the activation goes on with is what is stored, unless another one has followed it. */
  #checkMemory(): void {
    const { generation, base, value } = this.#activation
    const placed = this.#world.store.find(({ key }) => key === placementKey(this.#actor))
    if (placed?.revision !== generation) return
    const stored = stateIn(this.#world, this.#actor)
    this.#check("MemoryIsStored", stored.revision === base && stored.value === value)
  }

  get #activation(): Activation {
    return this.#world.activations[this.#actor] as Activation
  }

  #has(bug: Bug): boolean {
    return this.#setting.bugs.includes(bug)
  }
}

interface Decided {
  readonly indexed: string
  readonly writes: readonly Write[]
  readonly guards: readonly string[]
}

/** Reads the state, after the claim. */
export function activated(world: World, actor: number, generation: number): Activation {
  const { value, indexed, revision } = stateIn(world, actor)
  return { generation, base: revision, value, indexed, writes: 0, save: undefined, isBehind: false }
}

/** What the entries of all actors are, if they are what the states say. */
export function entriesSaid(world: World): readonly string[] {
  return world.activations.flatMap((_, actor) => {
    const { value } = stateIn(world, actor)
    return value === "" ? [] : `unique/T/v/s${value}!=${actor}`
  })
}

function actorOf(actor: number): IndexedActor {
  return { type: "T", key: String(actor), digestOf: (text) => text }
}

function indexedOf(hex: string): Indexed {
  return decodeIndexed(hex === "" ? undefined : Buffer.from(hex, "hex"))
}

function hexOf(indexed: Indexed): string {
  return Buffer.from(encodeIndexed(indexed) ?? []).toString("hex")
}

function written({ key, value }: { key: string; value: string | undefined }): Write {
  return value === undefined ? { kind: "delete", key } : { kind: "put", key, value: Buffer.from(value) }
}

const DECLARED: readonly IndexDeclaration[] = [
  { name: "v", version: 0, isUnique: true, of: (value) => value || undefined },
]

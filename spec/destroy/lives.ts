import type { Write } from "../../src/ports/store.js"
import { removeCommit, saveCommit } from "../../src/registry/commits.js"
import {
  Destruction,
  type DestructionEvent,
  mayRemove,
  Removal,
  type RemovalEvent,
} from "../../src/registry/destroy.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "../../src/registry/save.js"
import { plain } from "../registry-code/model-store.js"
import type { Check } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import {
  type Activation,
  generationIn,
  type Head,
  PLACED,
  rowKey,
  type Saving,
  STATE,
  type World,
} from "./world.js"

/**
 * What the drivers of an activation do. Each call makes the production decision from its snapshot, tells it
 * one thing, and keeps its snapshot.
 */
export class Lives {
  readonly #world: World
  readonly #setting: Setting
  readonly #check: Check
  readonly #activation: Activation

  constructor(world: World, setting: Setting, check: Check) {
    this.#world = world
    this.#setting = setting
    this.#check = check
    this.#activation = world.activation as Activation
  }

  /** A turn saves, and adds a satellite. Without a state it begins a life. */
  save(): void {
    const { head } = this.#activation
    const isNew = head.kind !== "alive"
    if (isNew) this.#world.lives += 1
    const life = isNew ? this.#world.lives : head.life
    const rows = isNew ? [] : head.rows
    const { has } = this.#setting
    const row = [1, 2].find((number) => number <= has.rows && !rows.includes(number))
    const put = row === undefined ? [] : [row]
    const alive = {
      kind: "alive" as const,
      generation: 0,
      life,
      rows: [...rows, ...put],
      remembers: has.memory,
    }
    this.#begin(alive, { put, deleted: [] })
  }

  /** A turn destroys the actor. */
  destroy(): void {
    this.#tellDestruction({ kind: "begin", left: this.#activation.head.rows.length })
  }

  /** The activation has found the actor dying. */
  resume(): void {
    this.#tellDestruction({ kind: "resume" })
  }

  #tellDestruction(event: DestructionEvent): void {
    const activation = this.#activation
    const destruction = new Destruction(activation.destruction)
    const command = destruction.handle(event)
    activation.destruction = destruction.snapshot
    if (command.kind === "write") this.#endLife(command.phase, event.kind === "listed" ? 1 : 0)
  }

  /** The first satellite is deleted with each commit. */
  listed(): void {
    this.#tellDestruction({ kind: "listed", more: this.#activation.head.rows.length > 1 })
  }

  #endLife(phase: "dying" | "destroyed", count: number): void {
    const { head, generation } = this.#activation
    const deleted = head.rows.slice(0, count)
    this.#begin(
      {
        kind: phase,
        generation,
        life: head.life,
        rows: head.rows.slice(count),
        remembers: head.remembers && !this.#has("memory-dropped"),
      },
      { put: [], deleted },
    )
  }

  /** What a tombstone remembers is old. */
  forget(): void {
    this.#begin({ ...this.#activation.head, remembers: false }, { put: [], deleted: [] })
  }

  #begin(head: Omit<Head, "writeId">, rows: Pick<Saving, "put" | "deleted">): void {
    const activation = this.#activation
    // Revisions are never used twice, so this tells the writes of the model apart.
    const writeId = `${activation.generation}.${activation.base}`
    const save = new Save(writeId, activation.base || undefined)
    activation.save = {
      ...rows,
      head: { ...head, writeId },
      snapshot: save.snapshot,
      todo: todoOf(save.begin()),
    }
  }

  write(): void {
    const { generation, base, save } = this.#activation
    const { head, put, deleted } = save as Saving
    const writes: Write[] = [
      ...put.map((row): Write => ({ kind: "put", key: rowKey(row), value: Buffer.from(String(head.life)) })),
      ...deleted.map((row): Write => ({ kind: "delete", key: rowKey(row) })),
    ]
    const proposal = saveCommit(
      { key: PLACED, generation },
      { key: STATE, over: base || undefined },
      Buffer.from(JSON.stringify(head)),
      { writes, absent: [] },
    )
    this.#world.requests.push({ isAwaited: true, isRemoval: false, ...plain(proposal) })
    if (save !== undefined) save.todo = "nothing"
  }

  tellSave(event: SaveEvent): void {
    const activation = this.#activation
    const saving = activation.save as Saving
    const save = new Save(saving.head.writeId, activation.base || undefined, saving.snapshot)
    const command = save.handle(event)
    if (command === undefined) throw new Error("a save was told what it had not asked for")
    saving.snapshot = save.snapshot
    // A pause is no step: whatever follows it may take any time anyway.
    if (command.kind === "wait") return this.tellSave({ kind: "waited" })
    if (command.kind === "end") return this.#saved(command.outcome, saving.head)
    saving.todo = todoOf(command)
  }

  #saved(outcome: SaveOutcome, head: Head): void {
    const activation = this.#activation
    this.#check("Undisturbed", outcome.kind === "saved" || this.#isOvertaken)
    if (outcome.kind !== "saved") {
      this.#world.activation = undefined
      return
    }
    activation.save = undefined
    activation.base = outcome.revision
    activation.head = head
    const { destruction } = activation
    if (destruction !== undefined && destruction !== "destroyed") this.#tellDestruction({ kind: "written" })
  }

  get #isOvertaken(): boolean {
    return generationIn(this.#world) !== this.#activation.generation
  }

  /** Whether the activation leaves nothing behind. */
  get mayRemove(): boolean {
    const { head, generation } = this.#activation
    const { isShared } = this.#setting
    if (head.kind !== "destroyed" || head.remembers) return false
    if (this.#has("same-generation")) return true
    return mayRemove({ phase: "destroyed", generation: head.generation }, { generation, isShared })
  }

  /** The activation ends in order, with the removal of its tombstone. */
  tellRemoval(event: RemovalEvent): void {
    const activation = this.#activation
    const removal = new Removal(activation.removal)
    const command = removal.handle(event)
    activation.removal = removal.snapshot
    if (command.kind === "wait") return this.tellRemoval({ kind: "waited" })
    if (command.kind === "end") {
      this.#world.activation = undefined
      return
    }
    const { generation, base } = activation
    const isShared = this.#setting.isShared || this.#has("state-alone")
    const placement = { key: PLACED, generation, isShared }
    const proposal = plain(removeCommit(placement, { key: STATE, revision: base }, []))
    if (this.#has("removal-unconditioned")) proposal.conditions.pop()
    const isAwaited = !this.#has("removal-undecided")
    this.#world.requests.push({ isAwaited, isRemoval: true, ...proposal })
    if (!isAwaited) this.#world.activation = undefined
  }

  #has(bug: Bug): boolean {
    return this.#setting.bugs.includes(bug)
  }
}

function todoOf(command: SaveCommand): Saving["todo"] {
  return command.kind === "write" || command.kind === "read" ? command.kind : "nothing"
}

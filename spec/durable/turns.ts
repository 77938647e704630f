import { saveCommit } from "../../src/registry/commits.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "../../src/registry/save.js"
import type { NumberedOperation } from "../../src/virtual/operation.js"
import { OperationMemory } from "../../src/virtual/operation-memory.js"
import { OutputGate } from "../../src/virtual/output-gate.js"
import { plain } from "../registry-code/model-store.js"
import type { Check } from "./here.js"
import type { Bug, Setting } from "./setting.js"
import {
  type Activation,
  type Attempt,
  type DecidedTurn,
  type Held,
  PLACEMENT,
  rowIn,
  rowKey,
  type Said,
  type Saving,
  STATE,
  type StateText,
  stateIn,
  type World,
} from "./world.js"

/**
 * What the drivers of an activation do: `DurableTurns`, `Recollection`, `NamedOperations` and `DurableState`.
 * Each call makes the production decision from what it was told before, tells it one thing, and keeps that.
 */
export class Turns {
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

  /** How to go on with an attempt: run it, or answer as it was answered before. */
  admit({ of, isRepeat, operation }: Attempt): "run" | "end" | Said {
    if (operation !== undefined) {
      const found = memoryOf(this.#activation.memory).find(operation, NOW)
      if (found.kind === "new") return "run"
      if (found.kind !== "repeated") return "end"
      const { isError, bytes } = found.outcome
      return { isError, value: (bytes as Uint8Array)[0] as number }
    }
    const undecided = this.#activation.undecided[of]
    if (undecided !== undefined) return undecided
    if (!isRepeat || (this.#has("look-up-early") && this.#activation.unseen.includes(of))) return "run"
    return rowIn(this.#world, of) ?? "run"
  }

  /** The turn is applied: its changes, its answer and its operation are one contribution. */
  applies(attempt: Attempt): void {
    this.#activation.applied.push(attempt.of)
    const said = { isError: false, value: this.#activation.applied.length }
    this.#contribute(attempt, said)
    this.#hold(attempt, said, true)
    this.#send()
  }

  /** The turn throws: nothing has changed, and it is remembered if it was a repeat. */
  throws(attempt: Attempt): void {
    const said = { isError: true, value: 0 }
    const isRemembered = attempt.isRepeat && !this.#has("throw-forgotten")
    if (isRemembered) this.#contribute(attempt, said)
    this.#hold(attempt, said, isRemembered)
    this.#send()
  }

  /** The attempt is answered as it was before. */
  repeats(attempt: Attempt, said: Said): void {
    this.#hold(attempt, said, true)
  }

  #contribute(attempt: Attempt, said: Said): void {
    const { of, operation, isRepeat } = attempt
    const activation = this.#activation
    const turn: DecidedTurn = { applied: [...activation.applied], memory: activation.memory, row: undefined }
    if (operation === undefined) {
      const isLookedUp = this.#has("look-up-early") && isRepeat
      turn.row = { of, said, isGuarded: !isLookedUp && !this.#has("no-guard") }
      activation.undecided[of] = said
    } else {
      const memory = this.#forgetsClosed(operation) ? new OperationMemory() : memoryOf(activation.memory)
      memory.heard(this.#forgetsClosed(operation) ? { ...operation, open: NOTHING_CLOSED } : operation, NOW)
      memory.remember(operation, { isError: said.isError, method: 0, bytes: Uint8Array.of(said.value) })
      activation.memory = hexOf(memory)
    }
    activation.gate.push({ kind: "turn", turn })
  }

  #hold({ of, attempt }: Attempt, said: Said, isStored: boolean): void {
    const answer = { of, attempt, ...said, shows: this.#activation.applied.length, isStored }
    if (this.#gate.hold(answer)) this.#activation.gate.push({ kind: "held", answer })
    else this.#release(answer)
  }

  /** The gate, made from what it was told. */
  get #gate(): OutputGate<Held, Batch> {
    const gate = new OutputGate<Held, Batch>({ maxWrites: this.#setting.turnsPerBatch, maxBytes: 1 })
    for (const call of this.#activation.gate) {
      if (call.kind === "held") gate.hold(call.answer)
      else if (call.kind === "sent") gate.next()
      else if (call.kind === "committed") gate.committed()
      else {
        const { applied, memory, row } = call.turn
        gate.reserve(TURN, (full) => {
          if (!this.#has("memory-of-later")) full.memory = memory
        })
        const batch = gate.contribute(TURN, () => ({ applied, memory: undefined, rows: [] }))
        batch.applied = applied
        if (row !== undefined) batch.rows.push(row)
      }
    }
    return gate
  }

  #send(): void {
    const activation = this.#activation
    const batch = this.#gate.next()
    if (batch === undefined) return
    activation.gate.push({ kind: "sent" })
    const memory = batch.memory ?? activation.memory
    const { generation, base } = activation
    const writeId = `${generation}.${base}`
    const save = new Save(writeId, base || undefined)
    activation.save = {
      writeId,
      snapshot: save.snapshot,
      todo: "nothing",
      state: {
        writeId,
        applied: batch.applied,
        memory: this.#has("memory-apart") ? activation.memoryBefore : memory,
      },
      rows: batch.rows,
    }
    activation.memoryBefore = this.#has("memory-apart") ? memory : ""
    this.#do(save.begin())
    this.write()
    if (this.#has("gate-at-sending")) for (const held of this.#heldInFlight()) this.#release(held)
  }

  /** What waits for the batch in flight. */
  #heldInFlight(): readonly Held[] {
    return this.#gate.committed()
  }

  /** Sends the commit of the batch in flight. */
  write(): void {
    const { generation, base, save } = this.#activation
    const { state, rows } = save as Saving
    ;(save as Saving).todo = "nothing"
    const { conditions, writes } = plain(
      saveCommit(
        { key: PLACEMENT, generation },
        { key: STATE, over: base || undefined },
        Buffer.from(JSON.stringify(state)),
        {
          writes: rows.map(({ of, said }) => ({
            kind: "put",
            key: rowKey(of),
            value: Buffer.from(JSON.stringify(said)),
          })),
          absent: rows.filter(({ isGuarded }) => isGuarded).map(({ of }) => rowKey(of)),
        },
      ),
    )
    this.#world.requests.push({
      isAwaited: true,
      conditions: conditions.filter(({ key }) => key !== STATE || !this.#has("revision-ignored")),
      writes,
    })
  }

  /** Whether nothing but this operation is open, so that only closed ones are forgotten. */
  #forgetsClosed({ number, open }: NumberedOperation): boolean {
    const isLast = number === Math.max(...this.#world.ledger)
    return this.#has("closed-by-count") && isLast && open.ranges[0] === number
  }

  tellSave(event: SaveEvent): void {
    const saving = this.#activation.save as Saving
    const save = new Save(saving.writeId, this.#activation.base || undefined, saving.snapshot)
    const command = save.handle(event)
    if (command === undefined) throw new Error("a save was told what it had not asked for")
    saving.snapshot = save.snapshot
    this.#do(command)
  }

  #do(command: SaveCommand): void {
    const saving = this.#activation.save as Saving
    switch (command.kind) {
      case "write":
      case "read":
        saving.todo = command.kind
        break
      case "wait":
        this.tellSave({ kind: "waited" })
        break
      case "end":
        this.#ended(command.outcome)
    }
  }

  #ended(outcome: SaveOutcome): void {
    const activation = this.#activation
    // Whatever waits fails as unknown: its caller repeats it, or gives it up.
    if (outcome.kind !== "saved") {
      this.#world.activation = undefined
      return
    }
    for (const { of } of (activation.save as Saving).rows) delete activation.undecided[of]
    activation.base = outcome.revision
    activation.save = undefined
    const gate = this.#gate
    const held = gate.committed()
    if (gate.isOpen) activation.gate = []
    else activation.gate.push({ kind: "committed" })
    this.#send()
    for (const answer of held) this.#release(answer)
  }

  /** An answer leaves. */
  #release({ of, attempt, isError, value, shows, isStored }: Held): void {
    const stored = stateIn(this.#world)
    const isApplied = stored.applied[value - 1] === of
    this.#check("Gate", stored.applied.length >= shows && (isError || isApplied))
    const before = this.#world.said[of]
    // A late first attempt of a named operation may run again, and throw: nobody waits for it.
    const isAwaited = this.#world.calls[of]?.attempts === attempt
    if (before !== undefined && (isStored || isAwaited))
      this.#check("SameAnswer", before.isError === isError && before.value === value)
    if (isStored) this.#world.said[of] = { isError, value }
    this.#world.answers.push({ of, attempt, isError, value })
  }

  #has(bug: Bug): boolean {
    return this.#setting.bugs.includes(bug)
  }
}

/** Reads the state, after the claim. */
export function activated(world: World, generation: number, unseen: number[]): Activation {
  const { applied, memory, revision }: StateText & { revision: number } = stateIn(world)
  return {
    generation,
    base: revision,
    applied: [...applied],
    memory,
    memoryBefore: memory,
    undecided: {},
    unseen,
    gate: [],
    save: undefined,
  }
}

export function memoryOf(hex: string): OperationMemory {
  return hex === "" ? new OperationMemory() : OperationMemory.decode(Buffer.from(hex, "hex"))
}

function hexOf(memory: OperationMemory): string {
  return Buffer.from(memory.encode() ?? []).toString("hex")
}

interface Batch {
  applied: number[]
  memory: string | undefined
  readonly rows: Saving["rows"]
}

const NOTHING_CLOSED = { upTo: 0, ranges: [] }
/** Time does not pass: nothing is too old. */
export const NOW = 1e12
const TURN = { writes: 1, bytes: 0 }

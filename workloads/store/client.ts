import type { ClusterStore, Commit, CommitResult, Entry } from "../../src/ports/store.js"
import type { CounterInput, CounterOutput, Life, RegisterInput, RegisterOutput } from "../../src/sim/index.js"
import type { EpochLedger } from "./epoch-ledger.js"
import type { RevisionLedger } from "./revision-ledger.js"

export type Registers = EpochLedger<unknown, RegisterInput, RegisterOutput>
export type Counters = EpochLedger<unknown, CounterInput, CounterOutput>

export interface Ledgers {
  readonly registers: Registers
  readonly counters: Counters
  readonly revisions: RevisionLedger
}

/** What one life does with the store, with every answer and every lost answer in a ledger. */
export class StoreClient {
  readonly #life: Life
  readonly #store: ClusterStore
  readonly #ledgers: Ledgers
  readonly #rules: Rules
  #lastId = 0

  constructor(life: Life, store: ClusterStore, ledgers: Ledgers, rules: Rules) {
    this.#life = life
    this.#store = store
    this.#ledgers = ledgers
    this.#rules = rules
  }

  async read(key: string): Promise<void> {
    await this.#readRegister(key)
  }

  /** Whatever is there. A write that nobody may have seen is not sent again: it would be two. */
  async write(key: string): Promise<void> {
    const { epoch } = await this.#store.get(key)
    const value = this.#newId()
    const isDelete = this.#life.ports.random.uint32() % 4 === 0
    const { registers } = this.#ledgers
    const input: RegisterInput = { kind: "write", value: isDelete ? null : value }
    const operation = registers.call(this.#life.name, key, input, epoch)
    const write = isDelete ? ({ kind: "delete", key } as const) : put(key, value)
    const result = await this.#try({ epoch, conditions: [], writes: [write] })
    if (result === undefined) return
    if (result === "not-committed" || result.kind !== "committed") registers.fail(operation)
    else registers.ok(operation, { kind: "written" })
  }

  /** Sets what it read, if it is still there. */
  async compareAndSet(key: string): Promise<void> {
    const { epoch, entry } = await this.#readRegister(key)
    const value = this.#newId()
    const { registers } = this.#ledgers
    const input: RegisterInput = { kind: "compare-and-set", expected: text(entry) ?? null, value }
    const operation = registers.call(this.#life.name, key, input, epoch)
    const outcome = await this.#decide(
      { epoch, conditions: [conditionOf(key, entry)], writes: [put(key, value)] },
      (seen) => text(seen) === value,
    )
    if (outcome.kind === "done") registers.ok(operation, { kind: "swapped" })
    else if (outcome.kind === "not-done") registers.fail(operation)
    this.#life.sometimes("a compare-and-set comes too late", outcome.kind === "not-done")
  }

  /**
   * Adds one to a counter, and no more than one, whatever becomes of answers: the value has the id of each
   * addition, so that one can be recognised after others have followed it.
   */
  async add(key: string): Promise<void> {
    const id = this.#newId()
    const { counters } = this.#ledgers
    const { epoch, entry } = await this.#store.get(key)
    const ids = [...idsOf(entry), id]
    const operation = counters.call(this.#life.name, key, { kind: "add", amount: 1 }, epoch)
    const outcome = await this.#decide(
      { epoch, conditions: [conditionOf(key, entry)], writes: [put(key, ids.join(" "))] },
      (seen) => idsOf(seen).includes(id),
    )
    if (outcome.kind === "done") counters.ok(operation, { kind: "value", value: ids.length })
    // Somebody else may have added to what this one added: only a value without it says that it was not done.
    else if (outcome.kind === "not-done") counters.fail(operation)
  }

  async total(key: string): Promise<void> {
    const operation = this.#ledgers.counters.call(this.#life.name, key, { kind: "read" })
    const { epoch, entry } = await this.#store.get(key)
    this.#ledgers.counters.ok(operation, { kind: "value", value: idsOf(entry).length }, epoch)
  }

  /**
   * Makes a commit and finds out what came of it. After a lost answer it reads. If what it wrote is there, it
   * was done; if what it was made for is still there, its fate is open, and the same commit on the same
   * conditions decides it, for only one of them can be made. A condition that something is absent does not do
   * that where things are deleted: it holds again.
   */
  async #decide(commit: Commit, isMine: (seen: Entry | undefined) => boolean): Promise<Decided> {
    await this.#think()
    const [condition] = commit.conditions
    const isDecidedOnce = condition?.kind === "at" || !this.#rules.isDeleted(condition?.key ?? "")
    let isOpen = false
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const result = await this.#try(commit)
      if (result === "not-committed") {
        if (!isOpen) return { kind: "not-done" }
      } else if (result === undefined) {
        isOpen = true
        if (!isDecidedOnce && !this.#rules.resendsWhereAbsent) return { kind: "open" }
      } else if (result.kind === "committed") {
        this.#life.sometimes("a commit is sent again, and made", isOpen)
        return { kind: "done" }
      } else if (result.kind === "epoch-changed") {
        this.#life.sometimes("a commit for an old epoch is refused")
        return { kind: isOpen ? "open" : "not-done" }
      } else {
        const isDone = result.found.some(({ entry }) => isMine(entry))
        this.#life.sometimes("a commit is sent again, and had been made", isDone)
        if (isDone) return { kind: "done" }
        return { kind: isOpen ? "open" : "not-done" }
      }
      const decided = await this.#lookFor(commit, isMine)
      if (decided !== undefined) return decided
    }
    return { kind: "open" }
  }

  /** Undefined if the commit is to be sent again. */
  async #lookFor(
    { epoch, conditions }: Commit,
    isMine: (seen: Entry | undefined) => boolean,
  ): Promise<Decided | undefined> {
    const [condition] = conditions
    try {
      const sight = await this.#store.get(condition?.key ?? "")
      if (isMine(sight.entry)) {
        this.#life.sometimes("an answer is lost, and the commit is there")
        return { kind: "done" }
      }
      if (sight.epoch !== epoch) return { kind: "open" }
      const revision = condition?.kind === "at" ? condition.revision : undefined
      return sight.entry?.revision === revision ? undefined : { kind: "open" }
    } catch {
      // To send it again is never wrong, and what it finds says as much as a read.
      return undefined
    }
  }

  /** Undefined if nobody knows. */
  async #try(commit: Commit): Promise<CommitResult | "not-committed" | undefined> {
    const sent = this.#ledgers.revisions.sending(this.#life, commit.epoch)
    try {
      const result = await this.#store.commit(commit)
      // A delete of what is absent changes nothing, and its revision has no meaning.
      if (result.kind === "committed" && commit.writes[0]?.kind === "put") sent(result.revision)
      return result
    } catch (error) {
      const { commitment } = error as { readonly commitment?: string }
      if (commitment === undefined) throw error
      this.#life.sometimes("a commit is refused for now", commitment === "not-committed")
      this.#life.sometimes("nobody knows whether a commit was made", commitment === "unknown")
      return commitment === "not-committed" ? commitment : undefined
    }
  }

  async #readRegister(key: string): Promise<{ readonly epoch: string; readonly entry: Entry | undefined }> {
    const operation = this.#ledgers.registers.call(this.#life.name, key, { kind: "read" })
    const seen = this.#ledgers.revisions.reading(this.#life, key)
    const sight = await this.#store.get(key)
    seen(sight)
    const { epoch, entry } = sight
    this.#ledgers.registers.ok(operation, { kind: "value", value: text(entry) ?? null }, epoch)
    return { epoch, entry }
  }

  /** Now and then there is time between what was read and what is made of it. */
  async #think(): Promise<void> {
    const { clock, random } = this.#life.ports
    if (random.uint32() % 4 !== 0) return
    await new Promise<void>((resolve) => {
      clock.setTimer(random.uint32() % 2_000, resolve)
    })
  }

  #newId(): string {
    this.#lastId += 1
    return `${this.#life.name}#${this.#lastId}`
  }
}

const ATTEMPTS = 5

export interface Rules {
  /** Whether somebody deletes that key. */
  isDeleted(key: string): boolean
  /**
   * A mistake, for the tests: sends a commit again that is on the condition that a key is absent which is
   * deleted now and then.
   */
  readonly resendsWhereAbsent: boolean
}

type Decided =
  | { readonly kind: "done" }
  | { readonly kind: "not-done" }
  /** It may have been made, or may yet be. */
  | { readonly kind: "open" }

export function text(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : Buffer.from(entry.value).toString()
}

export function idsOf(entry: Entry | undefined): string[] {
  return text(entry)?.split(" ") ?? []
}

function put(key: string, value: string) {
  return { kind: "put", key, value: new Uint8Array(Buffer.from(value)) } as const
}

function conditionOf(key: string, entry: Entry | undefined) {
  return entry === undefined
    ? ({ kind: "absent", key } as const)
    : ({ kind: "at", key, revision: entry.revision } as const)
}

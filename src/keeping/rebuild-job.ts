import { ActorId } from "../address/actor-id.js"
import { decodeKey } from "../address/actor-key.js"
import { NotUniqueError } from "../errors/index-errors.js"
import type { Timer } from "../ports/clock.js"
import type { ClusterStore } from "../ports/store.js"
import { indexText, type PublishedIndexes } from "../registry/published-indexes.js"
import { statesOf } from "../registry/registry-keys.js"
import type { StoreTroubles } from "../registry/store-troubles.js"
import type { ActorHost } from "../virtual/actor-host.js"
import type { IndexRecord } from "../virtual/index-record.js"
import {
  declaredNow,
  type IndexRecordSeen,
  isEntered,
  readIndexRecord,
  writeIndexRecord,
} from "../virtual/index-terms.js"
import { callInternally, REINDEX } from "../virtual/internal-methods.js"
import { IndexRebuild, type RebuildCommand, type RebuildEvent } from "./index-rebuild.js"

/**
 * The walks over the states of one type, until its indexes are complete: the driver of `index-rebuild.ts`.
 * The job is over if another node has written the record, or the store is away; a later look begins another.
 */
export class RebuildJob {
  readonly declared: PublishedIndexes
  /** Whether the record says that the indexes are complete. */
  isComplete = false
  isOver = false
  readonly #host: ActorHost
  readonly #type: string
  readonly #texts: readonly string[]
  readonly #troubles: StoreTroubles
  #timer: Timer | undefined

  constructor(
    host: ActorHost,
    about: { readonly type: string; readonly declared: PublishedIndexes; readonly troubles: StoreTroubles },
  ) {
    this.#host = host
    this.#type = about.type
    this.declared = about.declared
    this.#texts = textsOf(about.declared)
    this.#troubles = about.troubles
    void this.#run()
  }

  stop(): void {
    this.isOver = true
    this.#timer?.cancel()
  }

  get #store(): ClusterStore {
    return this.#host.options.store
  }

  async #run(): Promise<void> {
    try {
      const seen = await readIndexRecord(this.#store, this.#type)
      const { complete, walk } = seen.record
      if (this.#texts.every((text) => complete.includes(text))) return this.#ended(true)
      const isResumed = walk !== undefined && [...walk.declared].sort().join() === this.#texts.join()
      const rebuild = new IndexRebuild(this.#texts, isResumed ? walk : undefined)
      this.#do(rebuild, rebuild.begin(), seen)
    } catch (error) {
      this.#failed(error)
    }
  }

  #do(rebuild: IndexRebuild, commands: readonly RebuildCommand[], seen: IndexRecordSeen): void {
    for (const command of commands) {
      if (this.isOver) return
      void this.#carryOut(command, rebuild, seen)
    }
  }

  async #carryOut(command: RebuildCommand, rebuild: IndexRebuild, seen: IndexRecordSeen): Promise<void> {
    try {
      if (command.kind === "complete") return await this.#complete(seen)
      if (command.kind === "record") {
        const record = { complete: seen.record.complete, walk: rebuild.walk }
        if (!(await this.#write(seen, record))) return this.#ended(false)
        const written = await readIndexRecord(this.#store, this.#type)
        return this.#do(rebuild, this.isOver ? [] : rebuild.handle({ kind: "recorded" }), written)
      }
      const event = await this.#eventOf(command)
      if (!this.isOver) this.#do(rebuild, rebuild.handle(event), seen)
    } catch (error) {
      this.#failed(error)
    }
  }

  #eventOf(
    command: Exclude<RebuildCommand, { readonly kind: "complete" | "record" }>,
  ): Promise<RebuildEvent> {
    switch (command.kind) {
      case "list":
        return this.#list(command.after)
      case "build":
        return this.#build(command.key)
      case "wait":
        return this.#wait(command.ms)
    }
  }

  async #list(after: string): Promise<RebuildEvent> {
    const prefix = statesOf(this.#type)
    const from = after === "" ? undefined : prefix + after
    const { entries, more } = await this.#store.list(prefix, { limit: PAGE, after: from })
    const keyOf = ({ key }: { readonly key: string }) => key.slice(prefix.length)
    const old = entries.filter((entry) => !isEntered(entry, this.declared))
    return { kind: "listed", keys: entries.map(keyOf), old: old.map(keyOf), more }
  }

  async #build(written: string): Promise<RebuildEvent> {
    const key = decodeKey(written) as string
    try {
      const id = ActorId.of(this.#host.options.namespace, this.#type, key)
      const taken = (await callInternally(this.#host, id, REINDEX, [])) as readonly string[]
      return { kind: "built", key, taken }
    } catch (error) {
      // Two actors with the value were built at the same time.
      if (error instanceof NotUniqueError) return { kind: "built", key, taken: [error.index] }
      const { logger } = this.#host
      logger.log("warn", "an actor could not be built into its indexes", { type: this.#type, key, error })
      return { kind: "failed", key }
    }
  }

  #wait(ms: number): Promise<RebuildEvent> {
    return new Promise((resolve) => {
      this.#timer = this.#host.clock.setTimer(ms, () => resolve({ kind: "waited" }))
    })
  }

  /** A host that joined since, and declares other indexes, takes it back before it writes a state. */
  async #complete(seen: IndexRecordSeen): Promise<void> {
    const now = await declaredNow(this.#store, this.#type)
    if (now?.isAgreed !== true || textsOf(now).join() !== this.#texts.join()) return this.#ended(false)
    this.#ended(await this.#write(seen, { complete: this.#texts }))
  }

  #write(seen: IndexRecordSeen, record: IndexRecord): Promise<boolean> {
    return writeIndexRecord(this.#store, this.#type, seen, record)
  }

  #ended(isComplete: boolean): void {
    this.isComplete = isComplete
    this.isOver = true
  }

  #failed(error: unknown): void {
    this.#ended(false)
    this.#troubles.note("build an index", error)
  }
}

/** The indexes as records say them, in one order. */
export function textsOf({ agreed }: PublishedIndexes): readonly string[] {
  return [...agreed.values()].map(indexText).sort()
}

const PAGE = 100

import { ActorId } from "../address/actor-id.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { Timer } from "../ports/clock.js"
import type { PublishedIndexes } from "../registry/published-indexes.js"
import { StoreTroubles } from "../registry/store-troubles.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { RebuildJob, textsOf } from "./rebuild-job.js"

/**
 * Keeps the indexes of the types complete that this node hosts: one of the hosts of each type builds what is
 * missing. The driver of `index-rebuild.ts`. Nothing is claimed for it: two nodes that build at once hinder
 * each other at the record, and do no harm.
 */
export class IndexKeeping {
  readonly #host: ActorHost
  readonly #troubles: StoreTroubles
  /** By type. */
  readonly #jobs = new Map<string, RebuildJob>()
  /** What is known to be complete, by type. */
  readonly #complete = new Map<string, string>()
  #timer: Timer | undefined
  #isOver = false

  constructor(host: ActorHost) {
    this.#host = host
    this.#troubles = new StoreTroubles(host.environment.logger, host.clock)
    if (this.#types.length > 0) this.#lookIn(FIRST_LOOK_MS)
  }

  stop(): void {
    this.#isOver = true
    this.#timer?.cancel()
    for (const job of this.#jobs.values()) job.stop()
    this.#jobs.clear()
  }

  get #types(): readonly string[] {
    return [...this.#host.types.values()].filter(({ indexes }) => indexes.length > 0).map(({ name }) => name)
  }

  #lookIn(ms: number): void {
    if (!this.#isOver) this.#timer = this.#host.clock.setTimer(ms, () => this.#look())
  }

  #look(): void {
    for (const type of this.#types) this.#follow(type)
    this.#lookIn(LOOK_AGAIN_MS)
  }

  #follow(type: string): void {
    const { registry } = this.#host
    const published = registry.published.indexes(type)
    const isOwn = registry.life.phase === "member" && this.#isKept(type)
    const declared = published?.isAgreed === true ? textOf(published) : undefined
    const job = this.#jobs.get(type)
    if (job !== undefined && (!isOwn || job.isOver || textOf(job.declared) !== declared)) {
      job.stop()
      this.#jobs.delete(type)
      if (job.isComplete) this.#complete.set(type, textOf(job.declared))
    }
    if (this.#complete.get(type) !== declared) this.#complete.delete(type)
    if (!isOwn || published === undefined || declared === undefined) return
    if (this.#jobs.has(type) || this.#complete.has(type)) return
    this.#jobs.set(type, new RebuildJob(this.#host, { type, declared: published, troubles: this.#troubles }))
  }

  /** Whether this node is the one of the hosts that keeps the indexes of the type. */
  #isKept(type: string): boolean {
    const { registry } = this.#host
    const hosts = registry.view.hosting(type)
    if (hosts.length === 0) return false
    return rendezvous(ActorId.of("indexes", "type", type), hosts).equals(registry.node)
  }
}

function textOf(declared: PublishedIndexes): string {
  return textsOf(declared).join(" ")
}

const FIRST_LOOK_MS = 200
const LOOK_AGAIN_MS = 2_000

import type { Ports } from "../../ports/ports.js"
import { firstRevision } from "../epoch-revision.js"
import {
  decodeRecord,
  type EpochRecord,
  encodeRecord,
  type Found,
  judge,
  type Known,
} from "./epoch-record.js"
import { METHODS, rangeRequest, readRange, readStatus, readTxn, writeIsAt, writePut } from "./messages.js"
import { StoreFailure } from "./problem.js"
import { type ProtobufReader, ProtobufWriter } from "./protobuf.js"

/** The present epoch, as the record has it. */
export interface Epoch {
  readonly id: string
  /** What is added to a revision of etcd. */
  readonly base: number
  /** The revision of the record, which every transaction compares. */
  readonly recordRevision: number
}

/** A server that can be asked, within a time. */
export interface Server {
  readonly url: string
  ask(method: string, message: Uint8Array, isRead: boolean): Promise<ProtobufReader>
}

/**
 * What this process knows of the history of the store: its identity, its epoch, and the highest revision that
 * was seen. A connection is used only after `settle` has found through it that the history was not cut, or
 * has begun a new epoch.
 */
export class StoreHistory {
  readonly recordKey: string
  readonly #ports: Ports
  #known: (EpochRecord & { readonly modRevision: number }) | undefined
  #epoch: Epoch | undefined
  /** The highest revision of etcd in this epoch. */
  #highest = 0
  #verifiedAt = 0

  constructor(prefix: string, ports: Ports) {
    this.recordKey = `${prefix}${RECORD}`
    this.#ports = ports
  }

  get identity(): string {
    return this.#known?.identity ?? ""
  }

  get epoch(): Epoch {
    if (this.#epoch === undefined) throw new Error("the store is not open")
    return this.#epoch
  }

  get highest(): number {
    return this.#highest
  }

  /** The revision of etcd at which the record was last read. */
  get verifiedAt(): number {
    return this.#verifiedAt
  }

  /** Records a revision of etcd that was seen. */
  saw(revision: number): void {
    if (revision > this.#highest) this.#highest = revision
  }

  /**
   * Reads the record through a connection, creates it if there is none, and begins a new epoch if history was
   * cut. Rejects with a `StoreFailure` if this is another store than before. Returns whether the epoch is
   * another one than before.
   */
  async settle(server: Server): Promise<boolean> {
    for (;;) {
      const found = await this.#look(server)
      const verdict = judge(found, this.#knowledge)
      const before = found.record
      switch (verdict.kind) {
        case "current":
          return this.#adopt(before as EpochRecord & { readonly modRevision: number }, found.revision)
        case "create":
          await this.#write(server, found, { identity: this.#name(16), base: 0 })
          break
        case "copied": {
          const last = (before?.base ?? 0) + found.revision
          this.#warn("the etcd cluster is a copy of another one; a new store begins", {})
          await this.#write(server, found, { identity: this.#name(16), base: this.#baseAbove(last, found) })
          break
        }
        case "cut": {
          this.#warn("the history of the store in etcd was cut; a new epoch begins", {
            because: verdict.because,
          })
          const base = this.#baseAbove(verdict.last, found)
          await this.#write(server, found, { identity: before?.identity ?? "", base })
          break
        }
        case "moved":
          throw new StoreFailure({
            problem: "moved",
            message: `etcd at ${server.url} no longer has the store that was opened: ${verdict.because}; restart this process if that is intended`,
            isCertain: true,
            isTransient: false,
          })
      }
    }
  }

  /** Begins a new epoch, whatever the history looks like. */
  async renew(server: Server): Promise<void> {
    const before = this.epoch.id
    while (this.epoch.id === before) {
      const found = await this.#look(server)
      const { identity, base } = found.record ?? { identity: this.identity, base: 0 }
      const last = base + Math.max(found.revision, this.#highest)
      await this.#write(server, found, { identity, base: this.#baseAbove(last, found) })
      await this.settle(server)
    }
  }

  get #knowledge(): Known | undefined {
    if (this.#known === undefined) return undefined
    const { identity, epoch, base } = this.#known
    return { identity, epoch, base, highest: this.#highest }
  }

  /** The revision is read before the index of the log. */
  async #look(server: Server): Promise<Found> {
    const { kvs, revision } = readRange(await server.ask(METHODS.range, rangeRequest(this.recordKey), true))
    const status = readStatus(await server.ask(METHODS.status, EMPTY, true))
    const [major = 0, minor = 0] = status.version.split(".").map(Number)
    if (major < 3 || (major === 3 && minor < 4)) {
      throw unsuitable(
        `etcd at ${server.url} must be version 3.4 or later (got ${status.version}); upgrade it`,
      )
    }
    const { clusterId, raftIndex } = status
    const [kv] = kvs
    if (kv === undefined) return { record: undefined, clusterId, revision, raftIndex }
    const record = decodeRecord(kv.value)
    if (record === undefined) {
      throw unsuitable(
        `the key ${this.recordKey} of etcd at ${server.url} is no record of a store, or one of a later version; set another prefix, or upgrade`,
      )
    }
    return { record: { ...record, modRevision: kv.modRevision }, clusterId, revision, raftIndex }
  }

  /** Writes a record if the one that was found is still there. If not, another process has written one. */
  async #write(
    server: Server,
    { record, clusterId, raftIndex }: Found,
    { identity, base }: Pick<EpochRecord, "identity" | "base">,
  ): Promise<void> {
    const writer = new ProtobufWriter()
    writeIsAt(writer, this.recordKey, record?.modRevision ?? 0)
    const next: EpochRecord = { identity, epoch: this.#name(8), base, clusterId, raftIndex }
    writePut(writer, this.recordKey, encodeRecord(next))
    readTxn(await server.ask(METHODS.txn, writer.finish(), false))
  }

  #adopt(record: EpochRecord & { readonly modRevision: number }, revision: number): boolean {
    const isChanged = this.#known !== undefined && this.#known.epoch !== record.epoch
    this.#highest = isChanged ? revision : Math.max(revision, this.#highest)
    this.#verifiedAt = revision
    this.#known = record
    this.#epoch = { id: record.epoch, base: record.base, recordRevision: record.modRevision }
    return isChanged
  }

  /** The next revision of etcd is then above `last`, and above what the clock says. */
  #baseAbove(last: number, { revision }: Found): number {
    return firstRevision(last, this.#ports.clock.wallMs()) - revision
  }

  #name(bytes: number): string {
    return Buffer.from(this.#ports.random.bytes(bytes)).toString("hex")
  }

  #warn(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#ports.logger.log("warn", message, { key: this.recordKey, ...fields })
  }
}

function unsuitable(message: string): StoreFailure {
  return new StoreFailure({ problem: "unsuitable", message, isCertain: true, isTransient: false })
}

const EMPTY = new Uint8Array(0)

/** Not in any namespace, since those have letters, digits, - _ and . alone. */
const RECORD = "@store"

import assert from "node:assert/strict"
import { resolve } from "node:path"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Entry,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreProvider,
  StoreWatch,
  StoreWatcher,
} from "../../ports/store.js"
import { assertKnown } from "../known-options.js"
import { goesFirst, isOfNodes } from "../lane.js"
import { NamespacedStore } from "../namespaced-store.js"
import { NOTHING_READ } from "../nothing-read.js"
import { packCommit, type Report, type Request, unpackEntry, unpackFound } from "./messages.js"
import type { Packing } from "./parcel.js"
import { requireWorkerFile } from "./worker-file.js"
import { type Asked, type LinkOptions, unexpected, WorkerLink } from "./worker-link.js"

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /**
   * The path of the file, on a local disk, in an existing folder. Processes share the store if they name the
   * same file in the same folder: a hard link, or a mount of the file alone, is refused.
   */
  readonly file: string
  /** How long a request waits for its answer before it is rejected. Default 5,000. */
  readonly timeoutMs?: number
  /** How often watches look for commits of other processes of which they got no notice. Default 250. */
  readonly pollMs?: number
  /** About how many bytes of history are kept for watches that fall behind. Default 64 MiB. */
  readonly keptLogBytes?: number
}

/**
 * Creates a store in a SQLite file, for the processes of one host.
 *
 * @example
 * import { ActorSystem } from "troupe"
 * import { sqliteStore } from "troupe/sqlite"
 *
 * const system = await ActorSystem.start({
 *   namespace: "prod",
 *   listen: { host: "127.0.0.1", port: 0 },
 *   store: sqliteStore({ file: "/var/lib/app/prod.db" }),
 * })
 */
export function sqliteStore(options: SqliteStoreOptions): StoreProvider {
  const link = linkOptions(options)
  const inThread = { module: new URL("./sqlite-in-thread.js", import.meta.url).href, options: link }
  return { ...storeWith(link), inThread }
}

/** Creates a store with options that only tests set. */
export function storeWith(options: LinkOptions): StoreProvider {
  return {
    open: async (namespace, ports) => {
      const link = new WorkerLink(options, ports)
      try {
        return new NamespacedStore(new SqliteStore(link, await link.open()), namespace)
      } catch (error) {
        await link.close()
        throw error
      }
    },
  }
}

export function linkOptions(options: SqliteStoreOptions): LinkOptions {
  requireWorkerFile()
  assertKnown(options, ["file", "timeoutMs", "pollMs", "keptLogBytes"] satisfies (keyof SqliteStoreOptions)[])
  const { file, timeoutMs = 5_000, pollMs = 250, keptLogBytes = 64 * 1024 * 1024 } = options
  assert(typeof file === "string" && file !== "", "file must be a non-empty string")
  assert(
    !/^(file:)?:memory:/.test(file),
    `file must be the path of a file (got ${file}); for a store in memory, leave \`store\` out or use memoryStore()`,
  )
  assert(
    timeoutMs > 0 && pollMs > 0 && keptLogBytes > 0,
    "timeoutMs, pollMs and keptLogBytes must be above 0",
  )
  return { file: resolve(file), timeoutMs, pollMs, keptLogBytes }
}

class SqliteStore implements ClusterStore {
  readonly identity: string
  readonly #link: WorkerLink

  constructor(link: WorkerLink, identity: string) {
    this.#link = link
    this.identity = identity
  }

  get(key: string): Promise<Sight> {
    const isFirst = isOfNodes(key)
    return this.#link.ask({
      isFirst,
      pack: (id, packing, sinceMs) =>
        packing.add({
          kind: "get",
          id,
          key,
          ...(isFirst && { isFirst }),
          ...(sinceMs !== undefined && { sinceMs }),
        }),
      unpack: unpackSight,
    })
  }

  list(prefix: string, options: ListOptions): Promise<Listing> {
    const isFirst = isOfNodes(prefix)
    return this.#link.ask({
      isFirst,
      pack: (id, packing, sinceMs) =>
        packing.add({
          kind: "list",
          id,
          prefix,
          options,
          ...(isFirst && { isFirst }),
          ...(sinceMs !== undefined && { sinceMs }),
        }),
      unpack: unpackListing,
    })
  }

  commit(commit: Commit): Promise<CommitResult> {
    return this.#link.ask(new AskedCommit(commit))
  }

  watch(prefix: string, from: Moment, watcher: StoreWatcher): StoreWatch {
    return { cancel: this.#link.watch(prefix, from, watcher) }
  }

  close(): Promise<void> {
    return this.#link.close()
  }
}

function unpackSight(report: Report, bytes: Uint8Array): Sight {
  if (report.kind === "absent") {
    return { epoch: report.epoch, entry: undefined, absentAt: report.absentAt }
  }
  if (report.kind !== "sight") throw unexpected(report)
  return { epoch: report.epoch, entry: unpackEntry(report.entry, bytes) }
}

function unpackListing(report: Report, bytes: Uint8Array): Listing {
  if (report.kind !== "page") throw unexpected(report)
  const { epoch, revision, entries, more } = report
  return { epoch, revision, entries: entries.map((entry) => unpackEntry(entry, bytes)), more }
}

function unpackResult(report: Report, bytes: Uint8Array): CommitResult {
  switch (report.kind) {
    case "committed":
      return { kind: "committed", revision: report.revision, read: unpackRead(report.read, bytes) }
    case "epoch-changed":
      return { kind: "epoch-changed", epoch: report.epoch }
    case "refused":
      return {
        kind: "refused",
        epoch: report.epoch,
        found: report.found.map((one) => unpackFound(one, bytes)),
      }
    default:
      throw unexpected(report)
  }
}

function unpackRead(
  read: Extract<Report, { kind: "committed" }>["read"],
  bytes: Uint8Array,
): readonly (Entry | undefined)[] {
  if (read === undefined) return NOTHING_READ
  return read.map((entry) => (entry === null ? undefined : unpackEntry(entry, bytes)))
}

class AskedCommit implements Asked<CommitResult> {
  readonly isFirst: boolean
  readonly weight: number
  readonly #commit: Commit

  constructor(commit: Commit) {
    this.isFirst = goesFirst(commit)
    this.#commit = commit
    let weight = 0
    for (const write of commit.writes) if (write.kind === "put") weight += write.value.length
    this.weight = weight
  }

  get commitment(): "unknown" {
    return "unknown"
  }

  get unpack(): (report: Report, bytes: Uint8Array) => CommitResult {
    return unpackResult
  }

  pack(id: number, packing: Packing<Request>, sinceMs?: number): void {
    packCommit(id, this.#commit, { isFirst: this.isFirst, sinceMs }, packing)
  }

  own(): Asked<CommitResult> {
    const writes = this.#commit.writes.map((write) =>
      write.kind === "put" ? { ...write, value: new Uint8Array(write.value) } : write,
    )
    return new AskedCommit({ ...this.#commit, writes })
  }
}

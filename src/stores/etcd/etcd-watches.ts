import type { Change, Moment, StoreWatcher } from "../../ports/store.js"
import type { EtcdLink, LinkFollower } from "./etcd-link.js"
import type { GrpcStream, StreamListener } from "./grpc-connection.js"
import { cancelWatchRequest, readWatch, type WatchAnswer, type WatchEvent, watchRequest } from "./messages.js"
import { ProtobufReader } from "./protobuf.js"

/**
 * The watches of a store. They share one stream of etcd, on which each has its id. Each knows the last
 * revision that it was told of, and is asked for again from there on the next connection. The record of the
 * epoch is watched as well, so that a new epoch is noticed without a request.
 *
 * A watch whose revisions were compacted receives a gap.
 */
export class EtcdWatches implements LinkFollower, StreamListener {
  readonly #link: EtcdLink
  readonly #prefix: string
  readonly #watches = new Map<number, Watch>()
  #lastId = RECORD_ID
  #stream: GrpcStream | undefined
  /** Whether the last answer of the server was the refusal of a watch. */
  #isRefused = false

  constructor(link: EtcdLink, prefix: string) {
    this.#link = link
    this.#prefix = prefix
  }

  get isWaiting(): boolean {
    return this.#watches.size > 0
  }

  /** Returns a function that ends the watch. */
  add(prefix: string, from: Moment, watcher: StoreWatcher): () => void {
    this.#lastId += 1
    const id = this.#lastId
    const { base } = this.#link.history.epoch
    const key = this.#prefix + prefix
    this.#watches.set(id, { id, key, epoch: from.epoch, at: from.revision - base, watcher })
    queueMicrotask(() => void this.#begin(id))
    return () => {
      if (this.#watches.delete(id)) this.#stream?.send(cancelWatchRequest(id))
    }
  }

  clear(): void {
    this.#watches.clear()
    this.disconnected()
  }

  connected(): void {
    if (this.#stream !== undefined || this.#watches.size === 0) return
    try {
      this.#stream = this.#link.watch(this)
    } catch {
      // The connection has just ended, and another one follows.
      return
    }
    this.#askForRecord()
    for (const watch of this.#watches.values()) if (watch.isBegun === true) this.#ask(watch)
  }

  disconnected(): void {
    this.#stream?.cancel()
    this.#stream = undefined
  }

  epochChanged(): void {
    const { id } = this.#link.history.epoch
    for (const watch of [...this.#watches.values()]) if (watch.epoch !== id) this.#gap(watch)
  }

  received(message: Buffer): void {
    const answer = readWatch(new ProtobufReader(message))
    if (answer.isCanceled && answer.isCreated && !answer.isCompacted) return this.#refused()
    this.#isRefused = false
    if (answer.watchId === RECORD_ID) return this.#recordChanged(answer)
    const watch = this.#watches.get(answer.watchId)
    if (watch === undefined) return
    if (answer.isCanceled) return this.#gap(watch)
    this.#tell(watch, answer.events)
    // Without events the server says how far it has looked.
    if (answer.events.length === 0 && !answer.isCreated) watch.at = Math.max(watch.at, answer.revision)
  }

  ended(cause: Error): void {
    this.#stream = undefined
    this.#link.streamEnded(cause)
  }

  /** A moment is of the future if even a read does not reach it: it is of another history. */
  async #begin(id: number): Promise<void> {
    const { history } = this.#link
    const watch = this.#watches.get(id)
    if (watch === undefined) return
    try {
      if (watch.epoch === history.epoch.id && watch.at > history.highest) await this.#link.verify()
    } catch {
      // There is no connection to find out with: the owner lists again when there is one.
    }
    if (!this.#watches.has(id)) return
    if (watch.epoch !== history.epoch.id || watch.at > history.highest) return this.#gap(watch)
    watch.isBegun = true
    if (this.#stream !== undefined) this.#ask(watch)
    else if (this.#link.isReady) this.connected()
    else this.#link.returnSoon()
  }

  #ask({ id, at, key }: Watch): void {
    this.#stream?.send(watchRequest(id, at + 1, { key, end: endOf(key) }))
  }

  #askForRecord(): void {
    const { recordKey, verifiedAt } = this.#link.history
    this.#stream?.send(watchRequest(RECORD_ID, verifiedAt + 1, { key: recordKey }))
  }

  #recordChanged({ events, isCanceled }: WatchAnswer): void {
    if (events.length === 0 && !isCanceled) return
    const stream = this.#stream
    const again = () => {
      if (isCanceled && this.#stream === stream) this.#askForRecord()
    }
    this.#link.verify().then(again, () => {})
  }

  /**
   * The server refuses a watch, of which it does not always say which. The stream keeps the token that it was
   * opened with, which may no longer be valid: it is opened again with another one. If that does not help,
   * the owners of the watches learn the reason when they list again.
   */
  #refused(): void {
    if (this.#isRefused) for (const watch of [...this.#watches.values()]) this.#gap(watch)
    this.#isRefused = true
    this.disconnected()
    this.#link.renewToken()
    this.#link.returnSoon()
  }

  #tell(watch: Watch, events: readonly WatchEvent[]): void {
    const { base } = this.#link.history.epoch
    for (let first = 0; first < events.length; ) {
      const { modRevision } = events[first] as WatchEvent
      let end = first + 1
      while (events[end]?.modRevision === modRevision) end += 1
      const changes = events.slice(first, end).map((event): Change => this.#change(event, base))
      first = end
      if (modRevision <= watch.at) continue
      watch.at = modRevision
      // The watcher may have cancelled in the previous call.
      if (this.#watches.has(watch.id)) undisturbed(() => watch.watcher.changed(changes))
    }
  }

  #change({ key, modRevision, value, isDelete }: WatchEvent, base: number): Change {
    return {
      key: key.slice(this.#prefix.length),
      revision: modRevision + base,
      value: isDelete ? undefined : value,
    }
  }

  #gap(watch: Watch): void {
    if (this.#watches.delete(watch.id)) undisturbed(() => watch.watcher.gap())
  }
}

interface Watch {
  readonly id: number
  readonly key: string
  readonly epoch: string
  /** The last revision of etcd that the watcher knows of. */
  at: number
  /** Whether the moment that it begins at was found to be good. */
  isBegun?: boolean
  readonly watcher: StoreWatcher
}

/** Returns the key after all that begin with a prefix. Keys are ASCII. */
export function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
}

/** The id of the watch of the record. */
const RECORD_ID = 1

/** Isolates errors of a watcher, so that no other change is lost. */
function undisturbed(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

import { ActorId } from "../address/actor-id.js"
import { decodeKey } from "../address/actor-key.js"
import { StateError } from "../errors/state-error.js"
import type { ClusterStore, Entry } from "../ports/store.js"
import { listAll } from "../registry/list-all.js"
import { satelliteKey, stateKey, statesOf } from "../registry/registry-keys.js"
import { formatOf } from "../registry/state-codecs.js"
import { decodeState, hasEnded, type StoredState } from "../registry/stored-state.js"
import { CHUNKS, chunkName } from "../registry/turn-draft.js"
import type { ActorClass } from "../virtual/actor-class.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { Holder } from "../virtual/holder.js"
import { ActorSystem } from "./actor-system.js"
import { actorLines, type ExportedActor, type ExportedRow, endLine, headerLine } from "./exported-lines.js"

/** What is exported, and who is told of it. */
export interface ExportActorsOptions {
  /** Only actors whose keys follow this one, in the order of `system.list`. Default: all of the type. */
  readonly after?: string | undefined
  /** Ends the export: the next line rejects with the reason. */
  readonly signal?: AbortSignal | undefined
  /** Called after each page, with the number of actors so far, and the key of the last one. */
  readonly onProgress?: ((actors: number, lastKey: string) => void) | undefined
}

/**
 * Exports the stored actors of a type as lines of JSON, for `importActors`: their states with their versions,
 * and what is stored beside them, such as reminders, remembered operations and undelivered messages. Nothing
 * is started, and the actors go on. Each of them is exported as of one moment, but not all of the same one.
 * Memory holds a few actors at a time.
 *
 * Rejects with a `StoreUnavailableError`, and with a `StateError` for a stored state that this version cannot
 * read: an export never leaves out what is there.
 *
 * @example
 * import { createWriteStream } from "node:fs"
 * import { once } from "node:events"
 * import { Actor, type ActorSystem, exportActors } from "troupe"
 *
 * class User extends Actor<{ name: string }> {}
 *
 * async function backUp(system: ActorSystem): Promise<void> {
 *   const file = createWriteStream("users.ndjson")
 *   for await (const line of exportActors(system, User)) {
 *     if (!file.write(`${line}\n`)) await once(file, "drain")
 *   }
 *   file.end()
 *   await once(file, "finish")
 * }
 */
export async function* exportActors(
  system: ActorSystem,
  type: ActorClass | string,
  { after, signal, onProgress }: ExportActorsOptions = {},
): AsyncGenerator<string, void, undefined> {
  const name = typeof type === "function" ? (type.type ?? type.name) : type
  // Checks the arguments.
  system.list(type, { after })
  const host = ActorSystem.actorsOf(system)?.host as ActorHost
  const exporter = new Exporter(host, name)
  let actors = 0
  const { store, codec, namespace } = host.options
  yield headerLine({ type: name, store: store.identity, codec: formatOf(codec.name) }, { namespace })
  for (let from = after; ; ) {
    const page = await exporter.page(from)
    for (const actor of page.actors) {
      signal?.throwIfAborted()
      yield* actorLines(actor)
    }
    actors += page.actors.length
    if (page.last !== undefined) onProgress?.(actors, page.last)
    if (page.last === undefined || !page.more) break
    from = page.last
  }
  yield endLine(actors)
}

/**
 * Reads actors as they are stored. Satellites change in commits of the state alone, and the revision of a
 * state never comes back: if it is the same before and after the satellites were read, all of them belong
 * together.
 *
 *     list the states of a page --> list the satellites of each --> list the revisions of the page
 *
 * Actors that were saved meanwhile are read again one by one. One that is saved all the time is held for the
 * moment that it takes.
 */
class Exporter {
  readonly #host: ActorHost
  readonly #store: ClusterStore
  readonly #type: string
  readonly #holder: Holder

  constructor(host: ActorHost, type: string) {
    this.#host = host
    this.#store = host.options.store
    this.#type = type
    this.#holder = new Holder(host)
  }

  async page(after: string | undefined): Promise<ExportedPage> {
    const prefix = statesOf(this.#type)
    const start = after === undefined ? undefined : stateKey(this.#idOf(after))
    const { entries, more } = await this.#store.list(prefix, { after: start, limit: PAGE })
    const found = entries.map((entry) => ({ entry, id: this.#idOf(keyOf(entry.key.slice(prefix.length))) }))
    const rows = await Promise.all(
      found.map(({ id, entry }) => (hasEnded(entry.value) ? NO_ROWS : this.#rowsOf(id))),
    )
    const again = await this.#store.list(prefix, { after: start, limit: PAGE, keysOnly: true })
    const revisions = new Map(again.entries.map(({ key, revision }) => [key, revision]))
    const actors: ExportedActor[] = []
    for (const [at, { id, entry }] of found.entries()) {
      const isSame = revisions.get(entry.key) === entry.revision
      const actor = isSame
        ? exported(id, entry, rows[at] as readonly ExportedRow[])
        : await this.#readAlone(id)
      if (actor !== undefined) actors.push(actor)
    }
    return { actors, last: found.at(-1)?.id.key, more }
  }

  async #readAlone(id: ActorId): Promise<ExportedActor | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const read = await this.#readOnce(id)
      if (read !== "changed") return read
    }
    for (;;) {
      await this.#holder.hold(id, HELD_MS)
      const read = await this.#readOnce(id).finally(() => this.#holder.letGo(id, true))
      if (read !== "changed") return read
    }
  }

  async #readOnce(id: ActorId): Promise<ExportedActor | undefined | "changed"> {
    const { entry } = await this.#store.get(stateKey(id))
    if (entry === undefined) return undefined
    const rows = await this.#rowsOf(id)
    const after = (await this.#store.get(stateKey(id))).entry
    return after?.revision === entry.revision ? exported(id, entry, rows) : "changed"
  }

  async #rowsOf(id: ActorId): Promise<readonly ExportedRow[]> {
    const prefix = satelliteKey(id, "")
    const { entries } = await listAll(this.#store, prefix)
    return entries.map(({ key, value }) => ({ name: key.slice(prefix.length), value }))
  }

  #idOf(key: string): ActorId {
    return ActorId.of(this.#host.options.namespace, this.#type, key)
  }
}

/** Undefined for an actor that was destroyed. */
function exported(
  id: ActorId,
  { value: head }: Entry,
  all: readonly ExportedRow[],
): ExportedActor | undefined {
  if (hasEnded(head)) return undefined
  const { version, codec, memory, indexed, chunk, value } = readable(id, head)
  const rows = all.filter(({ name }) => !name.startsWith(CHUNKS))
  const inChunk = chunk === undefined ? undefined : all.find(({ name }) => name === chunkName(chunk))
  if (chunk !== undefined && inChunk === undefined) throw unreadable(id, `chunk ${chunk} is missing`)
  return { key: id.key, version, codec, value: inChunk?.value ?? value, memory, indexed, rows }
}

function readable(id: ActorId, head: Uint8Array): StoredState {
  try {
    return decodeState(head)
  } catch (cause) {
    throw unreadable(id, `cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function unreadable(id: ActorId, detail: string, options?: ErrorOptions): StateError {
  return new StateError(id.toString(), "unreadable", detail, options)
}

/** No version writes a key that does not decode. */
function keyOf(written: string): string {
  return decodeKey(written) ?? written
}

interface ExportedPage {
  readonly actors: readonly ExportedActor[]
  /** The key of the last actor, exported or not; undefined if there is none. */
  readonly last: string | undefined
  readonly more: boolean
}

const NO_ROWS: readonly never[] = []
const PAGE = 32
const ATTEMPTS = 8
const HELD_MS = 5_000

import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { ImportError } from "../errors/import-error.js"
import { formatOf } from "../registry/state-codecs.js"
import type { ActorClass } from "../virtual/actor-class.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { ActorType } from "../virtual/actor-type.js"
import { Holder } from "../virtual/holder.js"
import { ActorImport } from "./actor-import.js"
import { shardingOf } from "./actor-place.js"
import { ActorSystem } from "./actor-system.js"
import { type ExportedActor, type ExportedRow, type ExportHeader, parseLine } from "./exported-lines.js"

/** How actors are imported. */
export interface ImportActorsOptions {
  /**
   * What to do about an actor that exists: `refuse` ends the import with an `ImportError`, `skip` keeps what
   * is there, `replace` replaces its state and all that belongs to it. Default `refuse`.
   */
  readonly onExisting?: "refuse" | "skip" | "replace" | undefined
  /** Ends the import: it rejects with the reason once what was begun has ended. */
  readonly signal?: AbortSignal | undefined
  /** Called after each actor. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined
}

/** How far an import is. */
export interface ImportProgress {
  /** The number of actors that were imported. */
  readonly imported: number
  /** The number of actors that existed, and were kept. */
  readonly skipped: number
}

/**
 * Imports the lines of `exportActors` into a running cluster, which must have a node that hosts the type. An
 * actor does not run while it is imported: calls wait for it, and the next one finds it as it was exported.
 * One that runs is deactivated first. States of older versions are upgraded when their actors start.
 *
 * An actor is imported whole or not at all, and an import that was cut off can be repeated with `skip`. A
 * few actors are held in memory at a time.
 *
 * Rejects with an `ImportError` that has the number of a line which is wrong, with a
 * `StoreUnavailableError`, and with the error of a call if no node can host an actor. The actors before that
 * line are imported then.
 *
 * @example
 * import { createReadStream } from "node:fs"
 * import { createInterface } from "node:readline"
 * import { Actor, type ActorSystem, importActors } from "troupe"
 *
 * class User extends Actor<{ name: string }> {}
 *
 * async function restore(system: ActorSystem): Promise<number> {
 *   const lines = createInterface({ input: createReadStream("users.ndjson") })
 *   const { imported } = await importActors(system, User, lines, { onExisting: "skip" })
 *   return imported
 * }
 */
export async function importActors(
  system: ActorSystem,
  type: ActorClass | string,
  lines: AsyncIterable<string> | Iterable<string>,
  options: ImportActorsOptions = {},
): Promise<ImportProgress> {
  const { onExisting = "refuse" } = options
  if (!["refuse", "skip", "replace"].includes(onExisting)) {
    throw new TypeError(`onExisting must be refuse, skip or replace (got ${JSON.stringify(onExisting)})`)
  }
  const name = typeof type === "function" ? (type.type ?? type.name) : type
  // Checks the type.
  system.list(type)
  const host = ActorSystem.actorsOf(system)?.host as ActorHost
  const given = typeof type === "function" && !host.types.has(name) ? new ActorType(type) : undefined
  const id = ActorId.of(host.options.namespace, name, "any")
  const sharding = await shardingOf(host.options.store, id, { hosted: host.types.get(name), given })
  const importing = new Importing(host, name, { ...options, onExisting })
  for await (const actor of exportedIn(lines, name, (header, line) => {
    const { store, codec } = host.options
    if (header.codec !== formatOf(codec.name)) {
      const own = formatOf(codec.name)
      throw new ImportError(line, `codec must be ${own}, as that of messages here is (got ${header.codec})`)
    }
    const isSameStore = header.store === store.identity
    importing.begin(new ActorImport(host, new Holder(host), { sharding, isSameStore }))
  })) {
    await importing.add(actor)
    if (importing.hasEnded) break
  }
  return importing.settled()
}

/** Imports actors, several at a time, and stops at the first that fails. */
class Importing {
  readonly #host: ActorHost
  readonly #type: string
  readonly #options: ImportActorsOptions
  readonly #running = new Set<Promise<void>>()
  #import: ActorImport | undefined
  #imported = 0
  #skipped = 0
  #failure: { readonly line: number; readonly error: unknown } | undefined

  constructor(host: ActorHost, type: string, options: ImportActorsOptions) {
    this.#host = host
    this.#type = type
    this.#options = options
  }

  begin(by: ActorImport): void {
    this.#import = by
  }

  /** Whether nothing more is to be added. */
  get hasEnded(): boolean {
    return this.#failure !== undefined || this.#options.signal?.aborted === true
  }

  /** Resolves when there is room for the next one. */
  async add({ line, actor }: NumberedActor): Promise<void> {
    if (this.hasEnded) return
    const running = this.#run(line, actor).finally(() => this.#running.delete(running))
    this.#running.add(running)
    if (this.#running.size >= MOST_AT_A_TIME) await Promise.race(this.#running)
  }

  async settled(): Promise<ImportProgress> {
    await Promise.all(this.#running)
    if (this.#failure !== undefined) throw this.#failure.error
    this.#options.signal?.throwIfAborted()
    return this.#progress
  }

  get #progress(): ImportProgress {
    return { imported: this.#imported, skipped: this.#skipped }
  }

  async #run(line: number, actor: ExportedActor): Promise<void> {
    try {
      const { onExisting, onProgress } = this.#options
      const id = this.#idOf(line, actor.key)
      this.#checkCodec(line, actor.codec)
      const outcome = await (this.#import as ActorImport).run(id, actor, onExisting === "replace")
      if (outcome === "imported") this.#imported += 1
      else if (outcome !== "exists") throw new ImportError(line, takenText(id, outcome.taken))
      else if (onExisting === "skip") this.#skipped += 1
      else throw new ImportError(line, `${id} exists; set onExisting to skip or replace it`)
      onProgress?.(this.#progress)
    } catch (error) {
      if (this.#failure === undefined || line < this.#failure.line) this.#failure = { line, error }
    }
  }

  #idOf(line: number, key: string): ActorId {
    const id = ActorId.tryOf(this.#host.options.namespace, this.#type, key)
    if (id instanceof ActorIdError) throw new ImportError(line, id.message, { cause: id })
    return id
  }

  /** A state that no activation could read is found here, and not when its actor is called. */
  #checkCodec(line: number, codec: string): void {
    const { formats } = this.#host.options.stateCodecs
    if (formats.includes(formatOf(codec))) return
    const read = formats.join(" or ")
    throw new ImportError(line, `codec must be ${read}, as in this cluster (got ${formatOf(codec)})`)
  }
}

/** `key` is that of the entry of a unique value: `unique/<type>/<index>/<value>`. */
function takenText(id: ActorId, key: string): string {
  return `${id} has a value that another actor has in the unique index ${key.split("/")[2]}`
}

/** Puts the lines of each actor together. Throws an `ImportError` where a line is not what must follow. */
async function* exportedIn(
  lines: AsyncIterable<string> | Iterable<string>,
  type: string,
  begun: (header: ExportHeader, line: number) => void,
): AsyncGenerator<NumberedActor, void, undefined> {
  let line = 0
  let actors = 0
  let hasBegun = false
  let isOver = false
  let open: OpenActor | undefined
  for await (const text of lines) {
    line += 1
    if (text.trim() === "") continue
    const said = parseLine(text, line)
    if (isOver) throw new ImportError(line, "must not follow the last line of an export")
    if (hasBegun !== (said.kind !== "header")) {
      throw new ImportError(
        line,
        hasBegun ? "must not begin another export" : "must be the first line of one",
      )
    }
    if (open !== undefined && said.kind !== "row") {
      throw new ImportError(
        line,
        `${open.rows.length} of ${open.count} rows of ${open.actor.key} were before it`,
      )
    }
    switch (said.kind) {
      case "header":
        if (said.type !== type) throw new ImportError(line, `type must be ${type} (got ${said.type})`)
        hasBegun = true
        begun(said, line)
        break
      case "actor":
        open = { line, actor: { ...said, rows: [] }, rows: [], count: said.rows }
        break
      case "row":
        if (open === undefined) throw new ImportError(line, "must follow the actor that it belongs to")
        open.rows.push({ name: said.name, value: said.value })
        break
      case "end":
        isOver = true
        if (said.actors !== actors) {
          throw new ImportError(line, `${said.actors} actors must be before it (got ${actors})`)
        }
    }
    if (open === undefined || open.rows.length < open.count) continue
    yield { line: open.line, actor: { ...open.actor, rows: open.rows } }
    actors += 1
    open = undefined
  }
  if (!isOver) throw new ImportError(line, "must be followed by the rest of the export, which was cut off")
}

interface NumberedActor {
  /** The number of the line that the actor begins with. */
  readonly line: number
  readonly actor: ExportedActor
}

interface OpenActor {
  readonly line: number
  readonly actor: ExportedActor
  readonly rows: ExportedRow[]
  readonly count: number
}

const MOST_AT_A_TIME = 16

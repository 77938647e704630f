import { ImportError } from "../errors/import-error.js"

// The lines of an export, each an object of JSON. One line begins the export, and one ends it. Between them
// each actor has a line with its state, which is followed by one line for each of its satellites. So no line
// is longer than a state, and what was cut off is missed.

/** The first line. */
export interface ExportHeader {
  /** Which format the lines have. */
  readonly format: number
  readonly type: string
  /** The identity of the store that the actors were in. */
  readonly store: string
  /** The codec of messages, which has encoded what is beside the states unless that has a mark. */
  readonly codec: string
}

/** One actor. */
export interface ExportedActor {
  readonly key: string
  /** The version of the state. */
  readonly version: number
  /** The name of the codec that encoded it. */
  readonly codec: string
  readonly value: Uint8Array
  readonly memory: Uint8Array | undefined
  /** What its entries in indexes are. */
  readonly indexed: Uint8Array | undefined
  readonly rows: readonly ExportedRow[]
}

/** One satellite of an actor. */
export interface ExportedRow {
  readonly name: string
  readonly value: Uint8Array
}

/** What a line says. */
type ExportLine =
  | ({ readonly kind: "header" } & ExportHeader)
  /** `rows` is the number of the lines of its satellites, which follow. */
  | ({ readonly kind: "actor"; readonly rows: number } & Omit<ExportedActor, "rows">)
  | ({ readonly kind: "row" } & ExportedRow)
  | { readonly kind: "end"; readonly actors: number }

const EXPORT_FORMAT = 1

export function headerLine({ type, store, codec }: Omit<ExportHeader, "format">, about: object): string {
  return JSON.stringify({ troupe: "actors", format: EXPORT_FORMAT, type, store, codec, ...about })
}

export function* actorLines(actor: ExportedActor): Generator<string> {
  const { key, version, codec, value, memory, indexed, rows } = actor
  yield JSON.stringify({
    actor: key,
    version,
    codec,
    value: textOf(value),
    memory: memory && textOf(memory),
    indexed: indexed && textOf(indexed),
    rows: rows.length,
  })
  for (const row of rows) yield JSON.stringify({ row: row.name, value: textOf(row.value) })
}

export function endLine(actors: number): string {
  return JSON.stringify({ end: true, actors })
}

/** Reads a line. Throws an `ImportError` for one that is none. */
export function parseLine(text: string, line: number): ExportLine {
  const refuse = (detail: string) => new ImportError(line, detail)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new ImportError(line, "must be JSON", { cause })
  }
  if (typeof parsed !== "object" || parsed === null) throw refuse("must be a line of an export")
  const said = parsed as Said
  const has = (name: keyof Said, type: "string" | "number") => {
    const value = said[name]
    const isFine = typeof value === type && (type === "string" || isCount(value))
    if (!isFine) throw refuse(`${name} must be a ${type === "string" ? "string" : "count"}`)
    return value
  }
  const text64 = (name: keyof Said) => bytesOf(has(name, "string") as string, name, refuse)
  if (said.troupe !== undefined) {
    if (said.troupe !== "actors") throw refuse("must be the first line of an export of actors")
    const format = has("format", "number") as number
    if (format !== EXPORT_FORMAT) throw refuse(`format must be ${EXPORT_FORMAT} (got ${format})`)
    const textIn = (name: keyof Said) => has(name, "string") as string
    return { kind: "header", format, type: textIn("type"), store: textIn("store"), codec: textIn("codec") }
  }
  if (said.end !== undefined) return { kind: "end", actors: has("actors", "number") as number }
  if (said.row !== undefined) {
    return { kind: "row", name: has("row", "string") as string, value: text64("value") }
  }
  if (said.actor === undefined) throw refuse("must be a line of an export")
  return {
    kind: "actor",
    key: has("actor", "string") as string,
    version: has("version", "number") as number,
    codec: has("codec", "string") as string,
    value: text64("value"),
    memory: said.memory === undefined ? undefined : text64("memory"),
    indexed: said.indexed === undefined ? undefined : text64("indexed"),
    rows: has("rows", "number") as number,
  }
}

/** What the lines of all kinds may have. */
interface Said {
  readonly troupe?: unknown
  readonly format?: unknown
  readonly type?: unknown
  readonly store?: unknown
  readonly actor?: unknown
  readonly version?: unknown
  readonly codec?: unknown
  readonly memory?: unknown
  readonly indexed?: unknown
  readonly rows?: unknown
  readonly row?: unknown
  readonly value?: unknown
  readonly end?: unknown
  readonly actors?: unknown
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")
}

/** Node ignores what is not base64, so a damaged text is found by encoding it again. */
function bytesOf(text: string, name: string, refuse: (detail: string) => ImportError): Uint8Array {
  const bytes = Buffer.from(text, "base64")
  if (bytes.toString("base64") !== text) throw refuse(`${name} must be base64`)
  return bytes
}

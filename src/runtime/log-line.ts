import type { LogLevel } from "../ports/logger.js"
import { LoggedError, type LogRecord, type LogValue } from "./log-value.js"

export interface LogEntry {
  readonly time: string
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogRecord
}

/**
 * Formats an entry for programs: one object on one line. A field whose name the entry itself uses is
 * written as `fields.name`.
 */
export function jsonLine({ time, level, message, fields }: LogEntry): string {
  const object: Record<string, LogValue> = Object.assign(Object.create(null), { time, level, message })
  for (const [name, value] of Object.entries(fields)) object[name in object ? `fields.${name}` : name] = value
  return json(object)
}

/**
 * Formats an entry for people: one line, and below it, indented, the stacks of errors. Only the first line
 * is not indented.
 */
export function textLine({ time, level, message, fields }: LogEntry): string {
  const first = [time, level.toUpperCase().padEnd(5), visible(message), ...pairs(fields)].join(" ")
  const lines = [first]
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof LoggedError)
      lines.push(...[`${word(name)}:`, ...origin(value).map(indented)].map(indented))
  }
  return lines.join("\n")
}

function pairs(fields: LogRecord): string[] {
  return Object.entries(fields).map(([name, value]) => {
    return `${word(name)}=${value instanceof LoggedError ? json(summary(value)) : word(value)}`
  })
}

function summary({ name, code, message }: LoggedError): string {
  const kind = code === undefined ? word(name) : `${word(name)} [${word(code)}]`
  return `${kind}: ${typeof message === "string" ? message : word(message)}`
}

/** The frames of an error, then those of its causes. */
function origin({ stack, details, cause, errors }: LoggedError): string[] {
  const lines =
    typeof stack === "string" ? stack.split("\n").filter((line) => line.startsWith("    at ")) : []
  const frames = lines.map((line) => visible(line.trim()))
  const below = (how: string, value: LogValue) => {
    return value instanceof LoggedError
      ? [`${how} ${visible(summary(value))}`, ...origin(value).map(indented)]
      : [`${how} ${word(value)}`]
  }
  return [
    ...(details === undefined ? [] : [`with ${pairs(details).join(" ")}`]),
    ...frames,
    ...(Array.isArray(errors) ? errors.flatMap((error: LogValue) => below("one of", error)) : []),
    ...(cause === undefined ? [] : below("caused by", cause)),
  ]
}

function indented(line: string): string {
  return `    ${line}`
}

/** Unquoted if the value is a single word, otherwise JSON. */
function word(value: LogValue | undefined): string {
  return typeof value === "string" && /^[\w.:/@+-]+$/.test(value) ? value : json(value ?? null)
}

function json(value: LogValue): string {
  return visible(JSON.stringify(value))
}

/**
 * Escapes characters that begin a line, move the cursor or change the text direction, in a form that JSON
 * has.
 */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\n") return "\\n"
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")
  })
}

import { messageOf } from "../errors/thrown.js"
import type { StateInspection } from "./inspection.js"

/** A state as JSON for people to read. What JSON does not have is written as text, or as an object. */
export function shownState(state: unknown): StateInspection {
  try {
    const json = JSON.stringify(state, shown)
    if (json === undefined) return { json: undefined, problem: "there is none" }
    if (json.length <= MOST_CHARACTERS) return { json, problem: undefined }
    const problem = `it has ${json.length} characters, and at most ${MOST_CHARACTERS} are shown`
    return { json: undefined, problem }
  } catch (error) {
    return { json: undefined, problem: `it cannot be shown: ${messageOf(error)}` }
  }
}

function shown(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`
  if (value instanceof Map) return { Map: [...value] }
  if (value instanceof Set) return { Set: [...value] }
  if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`
  return value
}

const MOST_CHARACTERS = 128 * 1_024

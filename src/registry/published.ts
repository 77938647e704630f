import type { NodeRecord } from "./node-record.js"
import { STATE_FORMAT } from "./stored-state.js"

/** What the records of all nodes say together. */
export interface Published {
  /** The latest format of stored states that all nodes can read. */
  readonly stateFormat: number
  /** The `once` methods of all types that some node hosts, as `onceName` says them. */
  readonly once: ReadonlySet<string>
}

export function publishedBy(records: Iterable<NodeRecord>): Published {
  let stateFormat = STATE_FORMAT
  const once = new Set<string>()
  for (const record of records) {
    stateFormat = Math.min(stateFormat, record.stateFormat ?? 1)
    for (const name of record.once ?? []) once.add(name)
  }
  return { stateFormat, once }
}

/** A method as records say it. */
export function onceName(type: string, method: string): string {
  return `${type}/${method}`
}

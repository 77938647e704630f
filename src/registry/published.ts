import type { NodeRecord } from "./node-record.js"
import { STATE_FORMAT } from "./stored-state.js"

/** What the records of all nodes say together. */
export interface Published {
  /** The latest format of stored states that all nodes can read. */
  readonly stateFormat: number
  /**
   * Whether a method is `once` on all nodes that host its type; undefined if there are none. While a method
   * becomes `once`, node by node, a call of it must not be repeated.
   */
  isOnce(type: string, method: string): boolean | undefined
}

export function publishedBy(records: Iterable<NodeRecord>): Published {
  let stateFormat = STATE_FORMAT
  const hosts = new Map<string, Set<string>[]>()
  for (const { stateFormat: format = 1, types, once = [] } of records) {
    stateFormat = Math.min(stateFormat, format)
    const methods = new Set(once)
    for (const type of types) hosts.set(type, [...(hosts.get(type) ?? []), methods])
  }
  return {
    stateFormat,
    isOnce: (type, method) => hosts.get(type)?.every((methods) => methods.has(onceName(type, method))),
  }
}

/** A method as records say it. */
export function onceName(type: string, method: string): string {
  return `${type}/${method}`
}

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
  /** By type: how many nodes host it, and for how many of them a method is `once`. */
  const hosts = new Map<string, { nodes: number; readonly once: Map<string, number> }>()
  for (const { stateFormat: format = 1, types, once = [] } of records) {
    stateFormat = Math.min(stateFormat, format)
    for (const type of types) {
      const host = hosts.get(type) ?? { nodes: 0, once: new Map() }
      host.nodes += 1
      hosts.set(type, host)
    }
    for (const name of new Set(once)) {
      const [type, method] = splitOnceName(name)
      const host = types.includes(type) ? hosts.get(type) : undefined
      host?.once.set(method, (host.once.get(method) ?? 0) + 1)
    }
  }
  return {
    stateFormat,
    isOnce: (type, method) => {
      const host = hosts.get(type)
      return host && host.once.get(method) === host.nodes
    },
  }
}

/** A method as records say it. */
export function onceName(type: string, method: string): string {
  return `${type}/${method}`
}

function splitOnceName(name: string): readonly [type: string, method: string] {
  const slash = name.indexOf("/")
  return [name.slice(0, slash), name.slice(slash + 1)]
}

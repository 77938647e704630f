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
  /** What the hosts of a type say of its indexes; undefined if there are no hosts. */
  indexes(type: string): PublishedIndexes | undefined
}

/** The indexes of a type, as its hosts declare them. */
export interface PublishedIndexes {
  /** By name, where all hosts declare the same. */
  readonly agreed: ReadonlyMap<string, PublishedIndex>
  /** Whether all hosts declare the same indexes. */
  readonly isAgreed: boolean
}

export interface PublishedIndex {
  readonly name: string
  readonly version: number
  readonly isUnique: boolean
}

export function publishedBy(records: Iterable<NodeRecord>): Published {
  let stateFormat = STATE_FORMAT
  /** By type: how many nodes host it, and for how many of them a method is `once`. */
  const hosts = new Map<string, { nodes: number; readonly once: Map<string, number> }>()
  const indexed = new Map<string, Map<string, number>>()
  for (const { stateFormat: format = 1, types, once = [], indexes = [] } of records) {
    stateFormat = Math.min(stateFormat, format)
    for (const type of types) {
      const host = hosts.get(type) ?? { nodes: 0, once: new Map() }
      host.nodes += 1
      hosts.set(type, host)
    }
    for (const text of new Set(indexes)) {
      const [type, index] = splitType(text)
      if (!types.includes(type)) continue
      const counts = indexed.get(type) ?? new Map<string, number>()
      indexed.set(type, counts.set(index, (counts.get(index) ?? 0) + 1))
    }
    for (const name of new Set(once)) {
      const [type, method] = splitType(name)
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
    indexes: (type) => {
      const host = hosts.get(type)
      if (host === undefined) return undefined
      const counts = [...(indexed.get(type) ?? [])]
      const everywhere = counts.filter(([, nodes]) => nodes === host.nodes)
      const agreed = everywhere.flatMap(([text]) => readIndex(text) ?? [])
      return {
        agreed: new Map(agreed.map((index) => [index.name, index])),
        isAgreed: everywhere.length === counts.length,
      }
    },
  }
}

/** An index as records say it. */
export function indexText({ name, version, isUnique }: PublishedIndex): string {
  return `${name}/${version}${isUnique ? "/unique" : ""}`
}

function readIndex(text: string): PublishedIndex | undefined {
  const [name = "", version, unique] = text.split("/")
  const isKnown = unique === undefined || unique === "unique"
  return isKnown ? { name, version: Number(version), isUnique: unique !== undefined } : undefined
}

/** An index of a type as records say it. */
export function typeIndexText(type: string, index: PublishedIndex): string {
  return `${type}/${indexText(index)}`
}

/** A method as records say it. */
export function onceName(type: string, method: string): string {
  return `${type}/${method}`
}

function splitType(name: string): readonly [type: string, method: string] {
  const slash = name.indexOf("/")
  return [name.slice(0, slash), name.slice(slash + 1)]
}

import type { NodeRecord } from "./node-record.js"
import { IndexHosts, type PublishedIndexes } from "./published-indexes.js"
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
  /** The version of the states of the type on that node; undefined if it is not active, or does not say. */
  versionOn(node: string, type: string): number | undefined
  /** Whether an active host of the type can read states of this version. */
  isKnown(type: string, version: number): boolean
  /** The lowest version of the type among its active hosts, as far as they say; undefined if none does. */
  lowestVersion(type: string): number | undefined
  /** The active hosts of the type that cannot read states in this format of a codec, as far as they say. */
  cannotRead(type: string, codec: string): readonly string[]
  /** What the hosts of a type say of its indexes; undefined if there are no hosts. */
  indexes(type: string): PublishedIndexes | undefined
}

/** `records` are those of all nodes, by the texts of their ids. */
export function publishedBy(records: Iterable<Known>): Published {
  let stateFormat = STATE_FORMAT
  /** By type: how many nodes host it, and for how many of them a method is `once`. */
  const hosts = new Map<string, { nodes: number; readonly once: Map<string, number> }>()
  const states: [node: string, states: PublishedStates][] = []
  const indexes = new IndexHosts()
  for (const [node, { record }] of records) {
    const { status, stateFormat: format = 1, types, once = [], versions, codecs } = record
    stateFormat = Math.min(stateFormat, format)
    indexes.add(record)
    for (const type of types) {
      const host = hosts.get(type) ?? { nodes: 0, once: new Map() }
      host.nodes += 1
      hosts.set(type, host)
    }
    for (const name of new Set(once)) {
      const [type, method] = split(name)
      const host = types.includes(type) ? hosts.get(type) : undefined
      host?.once.set(method, (host.once.get(method) ?? 0) + 1)
    }
    if (status === "active")
      states.push([node, { types, codecs, versions: versions && new Map(versions.map(versionIn)) }])
  }
  const byNode = new Map(states)
  const lowest = new Map<string, number>()
  const versionsOf = (type: string) =>
    states.flatMap(([_, of]) => (of.types.includes(type) ? (versionOf(of, type) ?? []) : []))
  return {
    stateFormat,
    isOnce: (type, method) => {
      const host = hosts.get(type)
      return host && host.once.get(method) === host.nodes
    },
    versionOn: (node, type) => {
      const of = byNode.get(node)
      return of?.types.includes(type) ? versionOf(of, type) : undefined
    },
    isKnown: (type, version) => versionsOf(type).some((known) => known >= version),
    lowestVersion: (type) => {
      // Asked for by every save of some types.
      const known = lowest.get(type)
      if (known !== undefined) return known
      const versions = versionsOf(type)
      if (versions.length === 0) return undefined
      lowest.set(type, Math.min(...versions))
      return lowest.get(type)
    },
    cannotRead: (type, codec) =>
      states.flatMap(([node, { types, codecs }]) =>
        types.includes(type) && codecs?.includes(codec) === false ? [node] : [],
      ),
    indexes: (type) => indexes.of(type),
  }
}

type Known = readonly [node: string, known: { readonly record: NodeRecord }]

/** What an active node says of the states that it can read. */
interface PublishedStates {
  readonly types: readonly string[]
  readonly versions: ReadonlyMap<string, number> | undefined
  readonly codecs: readonly string[] | undefined
}

/** Versions of 0 are not said. */
function versionOf({ versions }: PublishedStates, type: string): number | undefined {
  return versions && (versions.get(type) ?? 0)
}

/** A method as records say it. */
export function onceName(type: string, method: string): string {
  return `${type}/${method}`
}

/** The version of the states of a type as records say it. */
export function versionName(type: string, version: number): string {
  return `${type}/${version}`
}

function versionIn(name: string): readonly [type: string, version: number] {
  const [type, version] = split(name)
  return [type, Number(version)]
}

function split(name: string): readonly [type: string, rest: string] {
  const slash = name.indexOf("/")
  return [name.slice(0, slash), name.slice(slash + 1)]
}

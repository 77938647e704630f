import type { NodeRecord } from "./node-record.js"

/** The indexes of a type, as its hosts declare them. */
export interface PublishedIndexes {
  /** By name, where all hosts declare the same. */
  readonly agreed: ReadonlyMap<string, PublishedIndex>
  /** By name, where some hosts declare it: the latest version. */
  readonly known: ReadonlyMap<string, PublishedIndex>
  /** Whether all hosts declare the same indexes. */
  readonly isAgreed: boolean
}

export interface PublishedIndex {
  readonly name: string
  readonly version: number
  readonly isUnique: boolean
}

/** The indexes of all types, as the records of nodes say them. */
export class IndexHosts {
  /** By type: how many nodes host it, and how many of them declare an index. */
  readonly #types = new Map<string, { nodes: number; readonly indexes: Map<string, number> }>()

  add({ types, indexes = [] }: NodeRecord): void {
    for (const type of types) {
      const known = this.#types.get(type) ?? { nodes: 0, indexes: new Map() }
      known.nodes += 1
      this.#types.set(type, known)
      for (const text of new Set(indexes)) {
        if (!text.startsWith(`${type}/`)) continue
        const index = text.slice(type.length + 1)
        known.indexes.set(index, (known.indexes.get(index) ?? 0) + 1)
      }
    }
  }

  /** Undefined for a type that no node hosts. */
  of(type: string): PublishedIndexes | undefined {
    const hosts = this.#types.get(type)
    if (hosts === undefined) return undefined
    const counts = [...hosts.indexes]
    const everywhere = counts.filter(([, nodes]) => nodes === hosts.nodes)
    return {
      agreed: byName(everywhere),
      known: byName(counts),
      isAgreed: everywhere.length === counts.length,
    }
  }
}

function byName(
  counts: readonly (readonly [text: string, nodes: number])[],
): ReadonlyMap<string, PublishedIndex> {
  const indexes = counts.flatMap(([text]) => readIndex(text) ?? [])
  return new Map(indexes.sort((a, b) => a.version - b.version).map((index) => [index.name, index]))
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

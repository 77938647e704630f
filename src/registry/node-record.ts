import type { NodeId } from "../address/node-id.js"

/** What a node publishes about itself. Only the node writes it, except that others may set it `down`. */
export interface NodeRecord {
  readonly status: RecordStatus
  readonly roles: readonly string[]
  /** The types of actors that the node hosts. */
  readonly types: readonly string[]
  /** The mark by which processes on its host can prove its death; see `ports/lifeline.ts`. */
  readonly lifeline: string | undefined
  /** Fingerprints of its secrets, as in `ClusterTerms`; undefined if they are not known. */
  readonly secrets?: readonly string[] | undefined
  /** The latest format of stored states that it can read (`stored-state.ts`); undefined is the first. */
  readonly stateFormat?: number | undefined
  /** The `once` methods of its types (`published.ts`), for callers that do not have the classes. */
  readonly once?: readonly string[] | undefined
  /**
   * The versions of the states of its durable types, above 0, as `versionName` writes them; undefined if it
   * does not say.
   */
  readonly versions?: readonly string[] | undefined
  /** The formats of the codecs with which it can read states; undefined if it does not say. */
  readonly codecs?: readonly string[] | undefined
  /** The indexes of its types (`published-indexes.ts`). */
  readonly indexes?: readonly string[] | undefined
}

export type RecordStatus = "active" | "leaving" | "down"

export function nodeKey(node: NodeId | string): string {
  return NODES + node
}

export function leaseKey(node: NodeId | string): string {
  return LEASES + node
}

export const NODES = "nodes/"
export const LEASES = "leases/"

export function encodeRecord({
  status,
  roles,
  types,
  lifeline,
  secrets,
  stateFormat,
  once,
  versions,
  codecs,
  indexes,
}: NodeRecord): Uint8Array {
  const states = { stateFormat, once, versions, codecs, indexes: indexes?.length === 0 ? undefined : indexes }
  return Buffer.from(JSON.stringify({ status, roles, types, lifeline, secrets, ...states }))
}

/** Undefined for bytes that this version cannot read. */
export function decodeRecord(bytes: Uint8Array): NodeRecord | undefined {
  try {
    const read = JSON.parse(Buffer.from(bytes).toString()) as NodeRecord
    const { status, roles, types, lifeline, secrets, stateFormat, once, versions, codecs, indexes } = read
    if (!isStatus(status) || !isTexts(roles) || !isTexts(types)) return undefined
    return {
      status,
      roles,
      types,
      lifeline: typeof lifeline === "string" ? lifeline : undefined,
      ...(isTexts(secrets) ? { secrets } : {}),
      ...(typeof stateFormat === "number" ? { stateFormat } : {}),
      ...(isTexts(once) ? { once } : {}),
      ...(isTexts(versions) ? { versions } : {}),
      ...(isTexts(codecs) ? { codecs } : {}),
      ...(isTexts(indexes) ? { indexes } : {}),
    }
  } catch {
    return undefined
  }
}

/**
 * A node that was leaving or down does not come up again, whatever a store says that has lost its last
 * commits: all of its nodes are fenced, and join as others.
 */
export function laterOf(record: NodeRecord, known: NodeRecord | undefined): NodeRecord {
  if (known === undefined || ORDER[known.status] <= ORDER[record.status]) return record
  return { ...record, status: known.status }
}

const ORDER = { active: 0, leaving: 1, down: 2 } as const

function isStatus(value: unknown): value is RecordStatus {
  return value === "active" || value === "leaving" || value === "down"
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string")
}

import { encodeKey } from "../../src/address/actor-key.js"
import { orderedText } from "../../src/registry/ordered-value.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import { decodeState, hasEnded } from "../../src/registry/stored-state.js"
import { SHARDS } from "../../src/sharding/shard-keys.js"
import type { SimStoreEvent, Stage } from "../../src/sim/index.js"
import { decodeIndexed } from "../../src/virtual/index-entries.js"
import { REMINDERS } from "../../src/virtual/stored-dues.js"
import type { Cluster } from "../cluster/cluster.js"
import { decodedValue, STATE } from "../cluster/store-history.js"
import type { StoredProfile } from "./events.js"
import { type Profile, TYPES } from "./profile.js"

/**
 * What the store has, after each commit: the profiles, their satellites, where they are, and which nodes there
 * are. Answers are compared with what it had at each moment between the call and the answer.
 */
export class StoredProfiles {
  readonly #stage: Stage
  readonly #prefix: string
  /** The encoded states, by `type/key` as in keys; those of destroyed profiles are left out. */
  readonly #states = new Map<string, Uint8Array>()
  /** The satellites, by the same and then by their names. */
  readonly #rows = new Map<string, Map<string, Uint8Array>>()
  readonly #nodes = new Set<string>()
  readonly #records = new Map<string, { readonly node: string; readonly generation: number }>()
  /** The entries of indexes: the keys and the values of all that is under `index/` and `unique/`. */
  readonly #entries = new Map<string, string>()
  readonly #sights = new Set<Sight>()
  /** The lives that are being imported, by profile. */
  readonly #imports = new Map<string, Set<string>>()

  constructor(stage: Stage, { namespace, store }: Pick<Cluster, "namespace" | "store">) {
    this.#stage = stage
    this.#prefix = `${namespace}/`
    store.observe((event) => this.#take(event))
  }

  /** The profile in the store. */
  get(id: string): StoredProfile | undefined {
    const bytes = this.#states.get(id)
    return bytes === undefined ? undefined : profileIn(bytes, this.#rows.get(id))
  }

  /** The keys of all profiles of a type, in the order of listings. */
  keysOf(type: string): readonly string[] {
    const own = `${type}/`
    const written = [...this.#states.keys()].filter((id) => id.startsWith(own))
    return written.map((id) => decodeURIComponent(id.slice(own.length))).sort(byKey)
  }

  /** The keys of the profiles of a type whose states have this value, in the order of answers. */
  having(type: string, field: "name" | "plan", value: string): readonly string[] {
    return this.keysOf(type).filter((key) => this.get(idOf(type, key))?.state[field] === value)
  }

  /** Where the entries of all indexes are not those that the heads, and the states, say; undefined if nowhere. */
  entryProblem(): string | undefined {
    const expected = new Map<string, string>()
    for (const [id, bytes] of this.#states) {
      const slash = id.indexOf("/")
      const [type, key] = [id.slice(0, slash), decodeURIComponent(id.slice(slash + 1))]
      const { name, plan } = (this.get(id) as StoredProfile).state
      for (const { name: index, isUnique, mark, value } of decodeIndexed(decodeState(bytes).indexed)) {
        const own = { name: name || undefined, plan, size: [plan, name.length] }[index]
        const text = own === undefined ? undefined : orderedText(own)
        if (text !== value && mark !== "stale")
          return `${id} has ${String(own)} for ${index}, and its head ${value}`
        if (value === undefined || mark === "unowned") continue
        const entry = isUnique
          ? `unique/${type}/${index}/${value}`
          : `index/${type}/${index}/${value}/${id.slice(slash + 1)}`
        expected.set(entry, isUnique ? key : "")
      }
    }
    for (const [entry, key] of this.#entries) {
      if (expected.get(entry) !== key) return `${entry} is of ${key}, and should be of ${expected.get(entry)}`
      expected.delete(entry)
    }
    const [missing] = expected.keys()
    return missing === undefined ? undefined : `${missing} is missing`
  }

  /** A unique value that two profiles of a type have; undefined if there is none. */
  #sharedName(type: string): string | undefined {
    const owners = new Map<string, string>()
    for (const key of this.keysOf(type)) {
      const { name } = (this.get(idOf(type, key)) as StoredProfile).state
      const owner = owners.get(name)
      if (name !== "" && owner !== undefined) return `${type}/${owner} and ${type}/${key} are both ${name}`
      owners.set(name, key)
    }
    return undefined
  }

  /** The number of satellites of a profile. */
  rowsOf(id: string): number {
    return this.#rows.get(id)?.size ?? 0
  }

  /** All that is stored of a profile, as an export has it; undefined if there is none. */
  wholeOf(id: string): string | undefined {
    const bytes = this.#states.get(id)
    if (bytes === undefined) return undefined
    const { chunk, memory, value } = decodeState(bytes)
    const rows = [...(this.#rows.get(id) ?? [])].filter(([name]) => !name.startsWith("c/"))
    const whole = chunk === undefined ? value : this.#rows.get(id)?.get(`c/${chunk}`)
    return wholeText(whole ?? value, memory, rows)
  }

  /** The live node that the record of an actor names; undefined if there is none. */
  placeOf(record: string): string | undefined {
    const placed = this.#records.get(record)
    return placed === undefined || !this.#nodes.has(placed.node)
      ? undefined
      : `${placed.node} ${placed.generation}`
  }

  /** Collects what `look` returns now, and after each commit, until the sight is closed. */
  watch<T>(look: () => T): { readonly seen: readonly T[]; close(): void } {
    const seen: T[] = [look()]
    const sight = () => void seen.push(look())
    this.#sights.add(sight)
    return { seen, close: () => this.#sights.delete(sight) }
  }

  /** A life is about to be imported in place of what a profile is. */
  importing(id: string, life: string): void {
    const lives = this.#imports.get(id) ?? new Set()
    this.#imports.set(id, lives.add(life))
  }

  #take(event: SimStoreEvent): void {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    const { revision } = event.result
    const before = new Map<string, StoredProfile | undefined>()
    const reminders = new Map<string, number>()
    let isImport = false
    for (const write of event.commit.writes) {
      const id = this.#idOf(write.key)
      if (id !== undefined && !before.has(id)) before.set(id, this.get(id))
      if (id !== undefined) reminders.set(id, this.#remindersOf(id))
    }
    for (const write of event.commit.writes) {
      const key = write.key.slice(this.#prefix.length)
      const value = write.kind === "put" ? write.value : undefined
      if (key.startsWith("nodes/")) this.#set(this.#nodes, key.slice("nodes/".length), value)
      else if (key.startsWith(PLACEMENTS) || key.startsWith(SHARDS)) this.#place(key, value, revision)
      else if (key.startsWith("index/") || key.startsWith("unique/")) this.#entry(key, value)
      else if (key.startsWith("kin/")) this.#row(key.slice("kin/".length), value)
      else if (key.startsWith(STATE)) {
        this.#state(key.slice(STATE.length), value)
        isImport ||= this.#isImported(key.slice(STATE.length))
      }
    }
    for (const sight of this.#sights) sight()
    if (before.size > 0) {
      const shared = TYPES.map((type) => this.#sharedName(type)).find((problem) => problem !== undefined)
      const problem = shared === undefined ? this.entryProblem() : undefined
      this.#stage.record({ kind: "indexes", problem, shared })
    }
    for (const [id, stored] of before) {
      const after = this.get(id)
      const left = reminders.get(id) ?? 0
      this.#stage.record({ kind: "profile", id, before: stored, after, isImport, reminders: left })
    }
  }

  #remindersOf(id: string): number {
    return [...(this.#rows.get(id)?.keys() ?? [])].filter((name) => name.startsWith(REMINDERS)).length
  }

  #isImported(id: string): boolean {
    const stored = this.get(id)
    return stored !== undefined && this.#imports.get(id)?.has(stored.state.life) === true
  }

  #idOf(key: string): string | undefined {
    const rest = key.slice(this.#prefix.length)
    if (!rest.startsWith(STATE)) return undefined
    return rest.slice(STATE.length)
  }

  #set(names: Set<string>, name: string, value: Uint8Array | undefined): void {
    if (value === undefined) names.delete(name)
    else names.add(name)
  }

  #place(record: string, value: Uint8Array | undefined, generation: number): void {
    if (value === undefined) this.#records.delete(record)
    else this.#records.set(record, { node: Buffer.from(value).toString("latin1"), generation })
  }

  #entry(key: string, value: Uint8Array | undefined): void {
    if (value === undefined) this.#entries.delete(key)
    else this.#entries.set(key, Buffer.from(value).toString())
  }

  #row(path: string, value: Uint8Array | undefined): void {
    const [type, key, ...name] = path.split("/")
    const id = `${type}/${key}`
    const rows = this.#rows.get(id) ?? new Map<string, Uint8Array>()
    this.#rows.set(id, rows)
    if (value === undefined) rows.delete(name.join("/"))
    else rows.set(name.join("/"), value)
  }

  #state(id: string, value: Uint8Array | undefined): void {
    if (value === undefined || hasEnded(value)) this.#states.delete(id)
    else this.#states.set(id, value)
  }
}

/** The id of a profile as it stands in keys. */
export function idOf(type: string, key: string): string {
  return `${type}/${encodeKey(key)}`
}

/** One text for all that an export has of an actor. */
export function wholeText(
  value: Uint8Array,
  memory: Uint8Array | undefined,
  rows: readonly (readonly [name: string, value: Uint8Array])[],
): string {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64")
  const all = rows.map(([name, bytes]) => `${name}=${text(bytes)}`).sort()
  return [text(value), memory === undefined ? "" : text(memory), ...all].join(" ")
}

function profileIn(bytes: Uint8Array, rows: ReadonlyMap<string, Uint8Array> | undefined): StoredProfile {
  const { version, chunk, value } = decodeState(bytes)
  const whole = chunk === undefined ? value : rows?.get(`c/${chunk}`)
  return { version, state: decodedValue(whole ?? value) as Profile }
}

/** Listings are in the order of the bytes of written keys. */
function byKey(one: string, other: string): number {
  const [a, b] = [encodeKey(one), encodeKey(other)]
  return a < b ? -1 : a > b ? 1 : 0
}

type Sight = () => void

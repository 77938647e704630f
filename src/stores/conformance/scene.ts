import assert from "node:assert/strict"
import type {
  ClusterStore,
  Commit,
  CommitResult,
  Condition,
  Entry,
  Listing,
  ListOptions,
  Revision,
  Write,
} from "../../ports/store.js"
import type { StoreHarness, StoreUnderTest } from "./harness.js"

/** One rule of the port: its name, and a function that rejects if the rule does not hold. */
export type Rule = readonly [name: string, check: (scene: Scene) => Promise<void>]

/** What a case works with: its own store, and handles on it that are closed when the case is over. */
export class Scene {
  readonly harness: StoreHarness
  readonly underTest: StoreUnderTest
  readonly #handles: ClusterStore[] = []

  static async play(harness: StoreHarness, check: Rule[1]): Promise<void> {
    const scene = new Scene(harness, await harness.create())
    try {
      await check(scene)
    } finally {
      await scene.closeAll()
      await scene.underTest.dispose()
    }
  }

  private constructor(harness: StoreHarness, underTest: StoreUnderTest) {
    this.harness = harness
    this.underTest = underTest
  }

  async open(namespace = "conformance"): Promise<ClusterStore> {
    const handle = await this.underTest.open(namespace)
    this.#handles.push(handle)
    return handle
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#handles.splice(0).map((handle) => handle.close()))
  }
}

export function put(key: string, value: string | Uint8Array = key): Write {
  return { kind: "put", key, value: typeof value === "string" ? bytes(value) : value }
}

export function erase(key: string): Write {
  return { kind: "delete", key }
}

export function at(key: string, revision: Revision): Condition {
  return { kind: "at", key, revision }
}

export function absent(key: string): Condition {
  return { kind: "absent", key }
}

/** Makes the commit in the current epoch. */
export async function commit(
  store: ClusterStore,
  { conditions = [], writes = [], reads }: Partial<Omit<Commit, "epoch">>,
): Promise<CommitResult> {
  const { epoch } = await store.get("any")
  return store.commit({ epoch, conditions, writes, reads })
}

/** Writes without a condition, and returns the revision. */
export async function write(store: ClusterStore, ...writes: Write[]): Promise<Revision> {
  return committed(await commit(store, { writes }))
}

/** Returns the revision of a commit, which must have been made. */
export function committed(result: CommitResult): Revision {
  assert.equal(result.kind, "committed", `the commit should have been made: ${JSON.stringify(result)}`)
  return (result as Extract<CommitResult, { kind: "committed" }>).revision
}

/** Returns what a commit found, which must have been refused. */
export function refused(result: CommitResult): Extract<CommitResult, { kind: "refused" }> {
  assert.equal(result.kind, "refused", `the commit should have been refused: ${JSON.stringify(result)}`)
  return result as Extract<CommitResult, { kind: "refused" }>
}

export async function entryAt(store: ClusterStore, key: string): Promise<Entry> {
  const { entry } = await store.get(key)
  assert(entry !== undefined, `${key} should exist`)
  return entry
}

export async function textAt(store: ClusterStore, key: string): Promise<string | undefined> {
  return text((await store.get(key)).entry?.value)
}

/** Returns the key, text and revision of all entries. */
export async function contents(store: ClusterStore, prefix = ""): Promise<string[]> {
  return (await allUnder(store, prefix)).map((entry) => shown(entry))
}

/** Returns the entries of all pages. */
export async function allUnder(store: ClusterStore, prefix: string): Promise<Entry[]> {
  return (await pagesOf(store, prefix)).flatMap(({ entries }) => entries)
}

export async function pagesOf(
  store: ClusterStore,
  prefix: string,
  options: ListOptions = {},
): Promise<Listing[]> {
  const pages: Listing[] = []
  let after: string | undefined
  do {
    const page = await store.list(prefix, { ...options, after })
    pages.push(page)
    after = page.more ? page.entries.at(-1)?.key : undefined
  } while (after !== undefined)
  return pages
}

export function shown(entry: Entry): string
export function shown(entry: Entry | undefined): string | undefined
export function shown(entry: Entry | undefined): string | undefined {
  return entry === undefined ? undefined : `${entry.key}=${text(entry.value)}@${entry.revision}`
}

/** Checks that a promise is rejected with a `StoreUnavailableError`. */
export async function fails(promise: Promise<unknown>, commitment: string): Promise<void> {
  await assert.rejects(promise, (error) => {
    isUnavailable(error, commitment)
    return true
  })
}

/** Compares the code, not the class: the suite and the adapter may have different copies of the package. */
export function isUnavailable(error: unknown, commitment: string): void {
  const { code, commitment: said } = error as { code?: unknown; commitment?: unknown }
  assert.equal(code, "StoreUnavailable", `the request should fail with a StoreUnavailableError, not ${error}`)
  assert.equal(said, commitment)
}

export function bytes(words: string): Uint8Array {
  return new Uint8Array(Buffer.from(words))
}

export function text(value: Uint8Array): string
export function text(value: Uint8Array | undefined): string | undefined
export function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString()
}

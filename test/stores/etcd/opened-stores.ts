import { onTestFinished } from "vitest"
import type { StoreUnavailableError } from "../../../src/errors/store-errors.js"
import { consoleLogger } from "../../../src/index.js"
import type { ClusterStore, Commit, CommitResult } from "../../../src/ports/store.js"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import { allUnder } from "../../../src/stores/conformance/scene.js"
import { type EtcdStoreOptions, etcdStore } from "../../../src/stores/etcd/index.js"
import { type EtcdOptions, EtcdServer } from "../../../tools/engines/etcd-server.js"

/** Starts a server that is removed when the test has ended. */
export async function serverOf(options: EtcdOptions = {}): Promise<EtcdServer> {
  const server = await EtcdServer.start(options)
  onTestFinished(() => server.remove())
  return server
}

/** Opens a store that is closed when the test has ended. */
export async function opened(options: EtcdStoreOptions): Promise<ClusterStore> {
  const logger = consoleLogger({ level: "error" })
  const store = await etcdStore(options).open("test", nodePorts({ logger }))
  onTestFinished(() => store.close())
  return store
}

export function putting(epoch: string, key: string, value = "x"): Commit {
  return { epoch, conditions: [], writes: [{ kind: "put", key, value: new Uint8Array(Buffer.from(value)) }] }
}

export function creating(epoch: string, key: string, value = "x"): Commit {
  return { ...putting(epoch, key, value), conditions: [{ kind: "absent", key }] }
}

export async function epochOf(store: ClusterStore): Promise<string> {
  return (await store.get("any")).epoch
}

/** Returns the revision of a commit that must be made. */
export async function committed(result: Promise<CommitResult>): Promise<number> {
  const made = await result
  if (made.kind !== "committed") throw new Error(`a commit was ${made.kind}`)
  return made.revision
}

/** Returns the outcome of a request in one line. */
export async function outcome(request: Promise<unknown>): Promise<string> {
  try {
    const result = (await request) as { readonly kind?: string }
    return result.kind ?? "answered"
  } catch (error) {
    const { code, commitment, problem } = error as StoreUnavailableError
    return code === "StoreUnavailable" ? `${commitment}: ${problem}` : String(error)
  }
}

/** Makes commits to keys of their own, several at a time, until it is told to stop. */
export class Load {
  readonly acknowledged = new Map<string, number>()
  readonly failures = new Set<string>()
  readonly #store: ClusterStore
  readonly #epoch: string
  readonly #running: Promise<unknown>
  #waiting: { readonly above: number; readonly resolve: () => void }[] = []
  #isOver = false

  static async start(store: ClusterStore, lanes = 8): Promise<Load> {
    return new Load(store, await epochOf(store), lanes)
  }

  private constructor(store: ClusterStore, epoch: string, lanes: number) {
    this.#store = store
    this.#epoch = epoch
    this.#running = Promise.all(Array.from({ length: lanes }, (_, lane) => this.#run(lane)))
  }

  /** Resolves when so many more commits were acknowledged. */
  more(count: number): Promise<void> {
    const above = this.acknowledged.size + count
    return new Promise((resolve) => this.#waiting.push({ above, resolve }))
  }

  /** Ends the load, and returns the keys of acknowledged commits that are not in the store as they were made. */
  async stop(): Promise<readonly string[]> {
    this.#isOver = true
    await this.#running
    const entries = await allUnder(this.#store, "state/")
    const found = new Map(entries.map(({ key, revision }) => [key, revision]))
    return [...this.acknowledged].flatMap(([key, revision]) => (found.get(key) === revision ? [] : [key]))
  }

  async #run(lane: number): Promise<void> {
    for (let count = 0; !this.#isOver; count += 1) {
      const key = `state/${lane}/${count}`
      try {
        this.acknowledged.set(key, await committed(this.#store.commit(creating(this.#epoch, key))))
      } catch (error) {
        this.failures.add(await outcome(Promise.reject(error)))
        // The test has failed, and nobody stops the load.
        if ((error as StoreUnavailableError).problem === "closed") return
      }
      this.#waiting = this.#waiting.filter(({ above, resolve }) => {
        if (this.acknowledged.size < above) return true
        resolve()
        return false
      })
    }
  }
}

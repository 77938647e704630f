import { afterEach, expect } from "vitest"
import type { Commitment, StoreProblem } from "../../../src/errors/store-errors.js"
import type { ClusterStore, CommitResult, StoreProvider } from "../../../src/ports/store.js"
import { consoleLogger } from "../../../src/runtime/console-logger.js"
import { nodePorts } from "../../../src/runtime/node-ports.js"
import { type TemporaryFolder, temporaryFolder } from "../../../tools/cluster/temporary-folder.js"

export interface Scratch {
  /** A path in the folder of the test. */
  path(name?: string): string
  open(provider: StoreProvider, namespace?: string): Promise<ClusterStore>
}

/** Provides a folder for each test, and stores that are closed after it. */
export function scratch(): Scratch {
  let folder: TemporaryFolder | undefined
  const opened: ClusterStore[] = []
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
    folder?.remove()
    folder = undefined
  })
  return {
    path: (name = "store.db") => {
      folder ??= temporaryFolder()
      return folder.file(name)
    },
    open: async (provider, namespace = "test") => {
      const store = await provider.open(namespace, nodePorts({ logger: silent }))
      opened.push(store)
      return store
    },
  }
}

/** Puts a text, and returns the revision. */
export async function put(store: ClusterStore, key: string, text = key): Promise<number> {
  const { epoch } = await store.get(key)
  return revisionOf(
    await store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value: bytes(text) }] }),
  )
}

export function revisionOf(result: CommitResult): number {
  if (result.kind !== "committed") throw new Error(`the commit was ${JSON.stringify(result)}`)
  return result.revision
}

export async function textAt(store: ClusterStore, key: string): Promise<string | undefined> {
  const { entry } = await store.get(key)
  return entry && Buffer.from(entry.value).toString()
}

export function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text))
}

/** For `rejects.toMatchObject`. Compares no classes, because compiled code has its own. */
export function unavailable(commitment: Commitment, says: RegExp, problem?: StoreProblem) {
  const known = { code: "StoreUnavailable", commitment, message: expect.stringMatching(says) }
  return problem === undefined ? known : { ...known, problem }
}

const silent = consoleLogger({ level: "error", write: () => {} })

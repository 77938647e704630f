import { onTestFinished } from "vitest"
import type { Ports } from "../../../src/ports/ports.js"
import type { ClusterStore, CommitResult, Condition, Revision, Write } from "../../../src/ports/store.js"
import { type PostgresStoreOptions, postgresStore } from "../../../src/stores/postgres/index.js"
import { type PostgresOptions, PostgresServer } from "../../../tools/engines/postgres-server.js"
import { quietPorts } from "./quiet-ports.js"
import { Road } from "./road.js"

/** A server that ends with the test. */
export async function startServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = await PostgresServer.start({ fsync: false, ...options })
  onTestFinished(() => server.remove())
  return server
}

export async function roadTo({ port }: PostgresServer): Promise<Road> {
  const road = await Road.to(port)
  onTestFinished(() => road.close())
  return road
}

/** A handle that is closed when the test is over, in the namespace that the processes of the suite use. */
export async function openStore(
  options: PostgresStoreOptions,
  ports: Ports = quietPorts(),
): Promise<ClusterStore> {
  const store = await postgresStore({ timeoutMs: 20_000, ...options }).open("conformance", ports)
  onTestFinished(() => store.close())
  return store
}

export function put(key: string, value: string): Write {
  return { kind: "put", key, value: new Uint8Array(Buffer.from(value)) }
}

export async function write(store: ClusterStore, key: string, value: string): Promise<Revision> {
  return committed(await commit(store, [], [put(key, value)]))
}

export async function erase(store: ClusterStore, key: string): Promise<Revision> {
  return committed(await commit(store, [], [{ kind: "delete", key }]))
}

/** Commits in the present epoch. */
export async function commit(
  store: ClusterStore,
  conditions: readonly Condition[],
  writes: readonly Write[],
): Promise<CommitResult> {
  const { epoch } = await store.get("any")
  return store.commit({ epoch, conditions, writes })
}

export function committed(result: CommitResult): Revision {
  if (result.kind !== "committed") throw new Error(`the commit was ${JSON.stringify(result)}`)
  return result.revision
}

export async function textAt(store: ClusterStore, key: string): Promise<string | undefined> {
  const { entry } = await store.get(key)
  return entry === undefined ? undefined : Buffer.from(entry.value).toString()
}

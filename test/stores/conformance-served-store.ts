import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { StoreUnavailableError } from "../../src/errors/store-errors.js"
import type {
  Change,
  ClusterStore,
  Commit,
  CommitResult,
  Entry,
  Listing,
  ListOptions,
  Moment,
  Sight,
  StoreProvider,
  StoreWatch,
  StoreWatcher,
} from "../../src/ports/store.js"
import { NamespacedStore } from "../../src/stores/namespaced-store.js"
import type { StoreState } from "../../src/stores/store-state.js"

/**
 * A minimal store that several processes can share: one keeps the keys in memory, the others send it lines of
 * JSON. It is a second implementation for the cases with processes, besides the stores that are shipped.
 */
export async function serve(
  state: StoreState,
): Promise<{ readonly argument: string; close(): Promise<void>; changed(): void }> {
  const clients = new Set<Client>()
  const tellAll = () => {
    for (const client of clients) client.tell()
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const client = new Client(state, socket, tellAll)
    sockets.add(socket)
    clients.add(client)
    socket.on("error", () => {})
    socket.on("close", () => {
      sockets.delete(socket)
      clients.delete(client)
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    argument: String((server.address() as AddressInfo).port),
    changed: tellAll,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, "close")
    },
  }
}

/** For the processes of the suite. */
export function provider(argument: string): StoreProvider {
  return {
    open: async (namespace) => {
      const socket = connect(Number(argument), "127.0.0.1")
      await once(socket, "connect")
      const store = new RemoteStore(socket)
      await store.open()
      return new NamespacedStore(store, namespace)
    },
  }
}

type Question =
  | { readonly kind: "open" }
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "list"; readonly prefix: string; readonly options: ListOptions }
  | { readonly kind: "commit"; readonly commit: Commit }
  | { readonly kind: "watch"; readonly prefix: string; readonly from: Moment }
  | { readonly kind: "cancel"; readonly watch: number }

class Client {
  readonly #state: StoreState
  readonly #socket: Socket
  readonly #watches = new Map<number, { readonly prefix: string; from: Moment }>()

  constructor(state: StoreState, socket: Socket, tellAll: () => void) {
    this.#state = state
    this.#socket = socket
    linesOf(socket, (line) => {
      const { id, question } = fromLine(line) as { id: number; question: Question }
      this.#send({ id, answer: this.#answer(id, question) })
      tellAll()
    })
  }

  tell(): void {
    for (const [id, watch] of this.#watches) {
      const commits = this.#state.changesAfter(watch.prefix, watch.from)
      watch.from = this.#state.moment
      for (const changes of commits ?? []) this.#send({ watch: id, changes })
      if (commits !== undefined) continue
      this.#watches.delete(id)
      this.#send({ watch: id, gap: true })
    }
  }

  #answer(id: number, question: Question): unknown {
    switch (question.kind) {
      case "open":
        return this.#state.identity
      case "get":
        return this.#state.get(question.key)
      case "list":
        return this.#state.list(question.prefix, question.options)
      case "commit":
        return this.#state.commit(question.commit)
      case "watch":
        this.#watches.set(id, { prefix: question.prefix, from: question.from })
        return true
      case "cancel":
        return this.#watches.delete(question.watch)
    }
  }

  #send(what: unknown): void {
    this.#socket.write(toLine(what))
  }
}

class RemoteStore implements ClusterStore {
  identity = ""
  readonly #socket: Socket
  readonly #waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  readonly #watchers = new Map<number, StoreWatcher>()
  #lastId = 0
  #isClosed = false

  constructor(socket: Socket) {
    this.#socket = socket
    linesOf(socket, (line) => this.#take(fromLine(line) as Told))
    socket.on("error", () => {})
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new StoreUnavailableError("gone", "unknown"))
    })
  }

  async open(): Promise<void> {
    this.identity = (await this.#ask({ kind: "open" })) as string
  }

  get(key: string): Promise<Sight> {
    return this.#ask({ kind: "get", key }) as Promise<Sight>
  }

  list(prefix: string, options: ListOptions): Promise<Listing> {
    return this.#ask({ kind: "list", prefix, options }) as Promise<Listing>
  }

  async commit(commit: Commit): Promise<CommitResult> {
    const result = (await this.#ask({ kind: "commit", commit })) as CommitResult
    if (result.kind !== "committed") return result
    // JSON has null where a key was absent.
    return { ...result, read: result.read.map((entry) => entry ?? undefined) }
  }

  watch(prefix: string, { epoch, revision }: Moment, watcher: StoreWatcher): StoreWatch {
    if (this.#isClosed) throw closed()
    this.#ask({ kind: "watch", prefix, from: { epoch, revision } }).catch(() => {})
    const id = this.#lastId
    this.#watchers.set(id, watcher)
    return {
      cancel: () => {
        if (this.#watchers.delete(id)) this.#ask({ kind: "cancel", watch: id }).catch(() => {})
      },
    }
  }

  async close(): Promise<void> {
    this.#watchers.clear()
    const last = this.#isClosed ? undefined : this.#ask({ kind: "open" })
    this.#isClosed = true
    await last?.catch(() => {})
    this.#socket.destroy()
  }

  #ask(question: Question): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(closed())
    this.#lastId += 1
    const id = this.#lastId
    this.#socket.write(toLine({ id, question }))
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  #take(told: Told): void {
    if ("watch" in told) {
      const watcher = this.#watchers.get(told.watch)
      if (told.changes !== undefined) watcher?.changed(told.changes)
      else watcher?.gap()
      return
    }
    this.#waiting.get(told.id)?.resolve(told.answer)
    this.#waiting.delete(told.id)
  }
}

type Told =
  | { readonly id: number; readonly answer: unknown }
  | { readonly watch: number; readonly changes?: readonly Change[] }

function closed(): StoreUnavailableError {
  return new StoreUnavailableError("the store has been closed", "not-committed")
}

function linesOf(socket: Socket, take: (line: string) => void): void {
  // An error of the socket is also an error of the reader.
  createInterface({ input: socket })
    .on("line", take)
    .on("error", () => {})
}

function toLine(what: unknown): string {
  const text = JSON.stringify(what, function (this: Readonly<Record<string, unknown>>, key, value: unknown) {
    // Read from the holder, because `JSON.stringify` has already called `toJSON` of a `Buffer`.
    const held = this[key]
    return held instanceof Uint8Array ? { bytes: Buffer.from(held).toString("base64") } : value
  })
  return `${text}\n`
}

function fromLine(line: string): unknown {
  return JSON.parse(line, (key, value: Entry & { readonly bytes?: unknown }) =>
    key === "value" && typeof value?.bytes === "string"
      ? new Uint8Array(Buffer.from(value.bytes, "base64"))
      : value,
  )
}

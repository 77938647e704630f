/** A node of one version of a program, with a load of its own, through the public API. */
import { ActorSystem, consoleLogger, jsonCodec } from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { type StoreOptions, storeOf } from "../../../tools/store-options.js"
import { type Basket, CODE, type Sums } from "./basket.js"

export interface NodeOptions {
  readonly store: StoreOptions
  /** Undefined for a node that hosts nothing. */
  readonly code: keyof typeof CODE | undefined
  readonly codecs: keyof typeof CODECS
  readonly keys: number
}

export type NodeCommands = {
  /** Calls baskets without a pause, with so many calls in flight, until `rest`. */
  load(inFlight: number): void
  rest(): Promise<LoadReport>
  /** What every basket says, by its name. */
  sums(): Promise<Record<string, Sums>>
  members(): number
  stop(): Promise<void>
}

export interface LoadReport {
  /** How many calls of each basket were answered, and by version 2. */
  readonly counts: Record<string, Sums>
  readonly failures: readonly string[]
  readonly longestMs: number
}

/** The codecs of stored values; that of messages is binary in all. */
const CODECS = {
  binary: undefined,
  "reads json": { read: [jsonCodec()] },
  "writes json": { write: jsonCodec() },
} as const

const parent = new ParentProcess<NodeOptions, never>()
const { store, code, codecs, keys } = parent.options
const stateCodecs = CODECS[codecs]

const system = await ActorSystem.start({
  namespace: "versions",
  actors: (code === undefined ? [] : CODE[code]) as never,
  listen: { host: "127.0.0.1", port: 0 },
  store: storeOf(store),
  lease: { ttlMs: 4_000 },
  // Actors start again and again, and so are claimed by nodes of both versions.
  idleAfterMs: 300,
  ...(stateCodecs === undefined ? {} : { stateCodecs }),
  logger: consoleLogger({ level: "error" }),
})

const names = ["Basket", "Batch"].flatMap((type) =>
  Array.from({ length: keys }, (_, at) => [type, `key-${at}`] as const),
)
const counts: Record<string, Sums> = {}
const failures: string[] = []
let longestMs = 0
let isLoaded = false
let lanes: Promise<void>[] = []

async function lane(): Promise<void> {
  while (isLoaded) {
    const [type, key] = names[Math.floor(Math.random() * names.length)] as (typeof names)[number]
    const begin = performance.now()
    try {
      const { version } = await system.actor<Basket>(type, key).add()
      const { items, marks } = counts[`${type}/${key}`] ?? { items: 0, marks: 0 }
      counts[`${type}/${key}`] = { items: items + 1, marks: version === 2 ? marks + 1 : marks }
    } catch (error) {
      failures.push(String(error))
    }
    longestMs = Math.max(longestMs, performance.now() - begin)
  }
}

const commands: NodeCommands = {
  load(inFlight) {
    isLoaded = true
    lanes = Array.from({ length: inFlight }, lane)
  },
  async rest() {
    isLoaded = false
    await Promise.all(lanes)
    return { counts, failures, longestMs }
  },
  async sums() {
    const all = names.map(async ([type, key]) => {
      return [`${type}/${key}`, await system.actor<Basket>(type, key).sums()] as const
    })
    return Object.fromEntries(await Promise.all(all))
  },
  members: () => system.health().members,
  stop: () => system.stop(),
}
parent.serve({ ...commands })

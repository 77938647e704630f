import { ActorId } from "../../src/address/actor-id.js"
import { NodeId } from "../../src/address/node-id.js"
import { consoleLogger } from "../../src/index.js"
import type { CodecTools } from "../../src/ports/codec.js"
import type { ClusterStore } from "../../src/ports/store.js"
import { ActorTable, HeldActor } from "../../src/registry/actor-table.js"
import { DurableState } from "../../src/registry/durable-state.js"
import { Registry } from "../../src/registry/registry.js"
import { StartWait } from "../../src/registry/start-wait.js"
import { StateCodecs } from "../../src/registry/state-codecs.js"
import type { StateDependencies } from "../../src/registry/state-writer.js"
import type { Tenure } from "../../src/registry/tenure.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { binaryCodec } from "../../src/serialization/binary-codec.js"
import { openStore, scratchFile } from "./scratch-store.js"

/** A cluster of one node over a store that is gone afterwards. */
export class ScratchRegistry {
  readonly registry: Registry
  readonly #tools: StateDependencies
  readonly #remove: () => void | Promise<void>

  /** Over a SQLite file. */
  static async start(): Promise<ScratchRegistry> {
    const { file, remove } = scratchFile()
    return ScratchRegistry.over(await openStore(file), remove)
  }

  /** Over any store. `remove` is called when it has been closed. */
  static async over(store: ClusterStore, remove: () => void | Promise<void>): Promise<ScratchRegistry> {
    const { clock, random, lifeline } = nodePorts()
    const logger = consoleLogger({ level: "warn" })
    const registry = await Registry.join({
      node: NodeId.fresh("127.0.0.1", 25_520, random),
      store,
      clock,
      random,
      lifeline,
      logger,
      terms: { ttlMs: 5_000, driftMargin: 0.1 },
      wait: new StartWait({ clock, random, logger }, 5_000),
      roles: [],
      types: ["Account"],
      placementCache: 1_000_000,
      observers: 5,
      actors: new ActorTable(HeldActor),
      viewed: () => {},
      lifeChanged: ({ phase, because }) => {
        if (phase === "fenced") throw new Error(`the node was fenced while it was measured: ${because}`)
      },
      turnedAway: () => {},
      settled: async () => {},
    })
    const tools = {
      store,
      clock,
      codecs: new StateCodecs(binaryCodec()(PLAIN)),
      lowestVersion: () => undefined,
      stateFormat: () => 2,
      maxStateBytes: 1024 * 1024,
    }
    return new ScratchRegistry(registry, tools, remove)
  }

  private constructor(registry: Registry, tools: StateDependencies, remove: () => void | Promise<void>) {
    this.registry = registry
    this.#tools = tools
    this.#remove = remove
  }

  /** Claims an actor and loads its state, as an activation does. */
  async activate(id: ActorId): Promise<{ readonly tenure: Tenure; readonly state: DurableState }> {
    const decision = await this.registry.register(id)
    if (decision.kind !== "acquired") throw new Error(`a claim was ${decision.kind}`)
    const { tenure, state: read } = decision
    const state = new DurableState(tenure, this.#tools, { version: 1 })
    if (read === undefined) await state.load()
    else state.take(read)
    return { tenure, state }
  }

  async stop(): Promise<void> {
    await this.registry.stop()
    await this.#tools.store.close()
    await this.#remove()
  }
}

export function actorId(index: number): ActorId {
  return ActorId.of("bench", "Account", `user-${index}@example.com`)
}

/** Goes on with so many in flight for as long as there is `more`. Says how long each took. */
export async function inLanes(
  lanes: number,
  more: () => boolean,
  operation: (lane: number) => Promise<void>,
): Promise<readonly number[]> {
  const tookMs: number[] = []
  const run = async (lane: number) => {
    while (more()) {
      const beganAt = performance.now()
      await operation(lane)
      tookMs.push(performance.now() - beganAt)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)))
  return tookMs
}

/** Nothing but data. */
const PLAIN: CodecTools = {
  refs: {
    isRef: () => false,
    textOf: String,
    refOf: () => {
      throw new Error("there are no refs here")
    },
  },
  types: { named: () => undefined, of: () => undefined },
}

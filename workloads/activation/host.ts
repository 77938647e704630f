import {
  ActivationBecame,
  ActorsLeftBehind,
  DeadLetter,
  NodeFenced,
  NodeRejoined,
  PlacementError,
} from "../../src/index.js"
import type { Registry } from "../../src/registry/registry.js"
import { actorKey } from "../../src/registry/registry-keys.js"
import { type Life, startSystem } from "../../src/sim/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { VirtualActors } from "../../src/virtual/virtual-actors.js"
import { markedPorts } from "../call-makers.js"
import { Asked, type Method, wireTypes } from "./asked.js"
import { performersOn, typeNames } from "./performers.js"
import { outcomeOf, type PerformerHandle, Scene } from "./scene.js"
import type { ActivationShow } from "./show.js"
import { type CodecEar, tappedCodec } from "./tapped-codec.js"
import { TappedStore } from "./tapped-store.js"

/** One system on one machine, from its start until it has left; and the clients in its process, who call actors. */
export class Host {
  readonly name: string
  /** Resolves when it has left. */
  readonly over: Promise<void>
  readonly #scene: Scene
  readonly #system: ActorSystem
  readonly #seqs = new Map<string, number>()
  #isLeaving = false
  #hasLeft = false
  #left: () => void = () => {}

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async enter(life: Life, show: ActivationShow, machine: number, act: number): Promise<Host> {
    const scene = new Scene(`${life.name}/${act}`, life, show)
    const provider = show.store.provider(life, { timeoutMs: show.storeTimeoutMs })
    const ports = markedPorts(life, show.stepMs)
    const system = await startSystem(
      { ...life, ports },
      {
        ...show.settings,
        namespace: show.namespace,
        actors: performersOn(machine, scene, show.placement),
        listen: { host: life.host, port: PORT, secret: "a secret of the play" },
        types: wireTypes,
        codec: tappedCodec(earOf(scene)),
        store: {
          open: async (namespace, ports) =>
            new TappedStore(await provider.open(namespace, ports), (id, generation) =>
              life.record({ kind: "door", what: "save", id, generation }),
            ),
        },
      },
    )
    return new Host(scene, system)
  }

  private constructor(scene: Scene, system: ActorSystem) {
    this.name = scene.name
    this.#scene = scene
    this.#system = system
    this.over = new Promise((resolve) => {
      this.#left = resolve
    })
    const { life, show } = scene
    scene.isListed = (id, generation) => this.actors.catalog.get(id)?.generation === generation
    system.events.subscribe(ActivationBecame, ({ id, generation, state }) => {
      life.record({ kind: "became", host: this.name, id: actorKey(id), generation, state })
      if (state === "valid") life.sometimes("an actor is activated")
    })
    system.events.subscribe(DeadLetter, ({ message }) => this.#undelivered(message))
    system.events.subscribe(NodeFenced, ({ because }) => life.sometimes(`a node is fenced: ${because}`))
    system.events.subscribe(ActorsLeftBehind, () => {
      show.hasLeftBehind = true
    })
    system.events.subscribe(NodeRejoined, () => life.sometimes("a fenced node comes back"))
    for (let client = 0; client < show.clients; client += 1) void this.#client()
  }

  get registry(): Registry {
    return ActorSystem.registryOf(this.#system) as Registry
  }

  get actors(): VirtualActors {
    return ActorSystem.actorsOf(this.#system) as VirtualActors
  }

  /** Stops the system as planned. Its clients go on as long as it takes. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    const { life, show } = this.#scene
    show.leaving.add(this.name)
    life.sometimes("a node leaves with work to do", this.actors.catalog.size > 0)
    await this.#system.stop()
    this.#hasLeft = true
    this.lookAtCatalog()
    this.#left()
  }

  /** Everything that was told has been heard, and nothing else happens meanwhile. */
  lookAtCatalog(): void {
    this.#system.events.flush()
    const entries = Array.from(this.actors.catalog.all, ({ key, generation, state }) => {
      return { id: key, generation, state }
    })
    this.#scene.life.record({ kind: "catalog", host: this.name, entries })
  }

  /** One call that has to succeed; what went wrong, if something did. */
  async callOnce(id: string): Promise<string | undefined> {
    const { random } = this.#scene
    const method: Method = random.chance(0.7) ? "add" : "read"
    const draft = {
      ...this.#addressed(id),
      method,
      chain: [],
      waits: [],
      path: [],
      from: undefined,
      isOneWay: false,
    }
    const plan = { ...this.#scene.drawn(draft), impatience: undefined, aborts: false }
    const failed = await this.#scene.call(this.#handleOf, plan)
    return failed === undefined ? undefined : `${(failed as { code?: string }).code}: ${failed.message}`
  }

  readonly #handleOf = (type: string, key: string) =>
    this.#system.actor(type, key) as unknown as PerformerHandle

  /** Calls this and that, sometimes several at once, and waits for the last of them or does not. */
  async #client(): Promise<void> {
    const { show, random } = this.#scene
    for (;;) {
      await this.#scene.sleep(random.between(0, show.pauseMs))
      if (show.isOver || this.#hasLeft) return
      const id = this.#pick()
      const calls = 1 + random.below(show.burst)
      let last: Promise<unknown> = Promise.resolve()
      for (let call = 0; call < calls; call += 1) {
        last = this.#callSomehow(random.chance(0.8) ? id : this.#pick())
      }
      if (random.chance(0.5)) await last
    }
  }

  #callSomehow(id: string): Promise<unknown> {
    const { random } = this.#scene
    const method: Method = random.pick(METHODS)
    const path = method === "pass" ? this.#pathFrom(id) : []
    const draft = { ...this.#addressed(id), method, chain: [], waits: [], path, from: undefined }
    return this.#scene.call(this.#handleOf, this.#scene.drawn(draft))
  }

  /** Later ones only, or it could wait for one that waits for it; except that it may come back to where it began. */
  #pathFrom(id: string): readonly string[] {
    const { random, show } = this.#scene
    const later = show.ids.slice(show.ids.indexOf(id) + 1)
    if (later.length === 0) return []
    const at = random.below(later.length)
    const path = [later[at] as string]
    if (random.chance(0.3) && at + 1 < later.length) path.push(random.pick(later.slice(at + 1)))
    if (random.chance(0.3)) path.push(id)
    return path
  }

  #pick(): string {
    const { random, show } = this.#scene
    return random.chance(0.6) ? (show.ids[random.below(typeNames.length)] as string) : random.pick(show.ids)
  }

  #addressed(id: string) {
    const seq = this.#seqs.get(id) ?? 0
    this.#seqs.set(id, seq + 1)
    return { id, seq, sender: this.name }
  }

  #undelivered(message: unknown): void {
    const { args, error } = message as { args?: readonly unknown[]; error?: Error }
    const asked = args?.[0]
    if (!(asked instanceof Asked) || error === undefined) return
    const { life } = this.#scene
    life.record({ kind: "ended", op: asked.op, outcome: outcomeOf(error), tookMs: 0 })
    life.sometimes("a one-way message comes to nothing, and that is told")
  }
}

const PORT = 25_520
const METHODS: readonly Method[] = ["add", "add", "add", "read", "read", "glance", "pass", "pass"]

/** Hears what leaves. */
function earOf({ life }: Scene): CodecEar {
  const sends = new Map<number, number>()
  let again: string | undefined
  return {
    answered: ({ id, generation }) => life.record({ kind: "door", what: "reply", id, generation }),
    sent: ({ op, id }) => {
      const sent = (sends.get(op) ?? 0) + 1
      sends.set(op, sent)
      life.sometimes("a call that was not run is sent again", sent === 2)
      life.sometimes("a call is sent a third time", sent === 3)
      life.sometimes("a call waits behind one that is redirected", sent === 1 && again === id)
      again = sent > 1 ? id : undefined
    },
    refused: (error) => {
      if (error instanceof PlacementError) life.sometimes(`a node does not take a call: ${error.problem}`)
    },
  }
}

import { ActivationBecame, DeadLetter, PlacementError } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"
import { Asked, type Method, wireTypes } from "./asked.js"
import type { Cluster, Place } from "./cluster.js"
import { ClusterNode } from "./cluster-node.js"
import { NodeTap } from "./node-tap.js"
import { performersOn } from "./performers.js"
import { outcomeOf, type PerformerHandle, Scene } from "./scene.js"
import { type CodecEar, tappedCodec } from "./tapped-codec.js"
import type { Traffic } from "./traffic.js"

/** A node that hosts performers, and the clients in its process, which call them. */
export class Host {
  readonly node: ClusterNode
  readonly #scene: Scene
  readonly #seqs = new Map<string, number>()

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async enter(life: Life, { name, index }: Place, cluster: Cluster, traffic: Traffic): Promise<Host> {
    const scene = new Scene(new NodeTap(name, life, cluster), traffic)
    const node = await ClusterNode.start(scene.tap, {
      actors: performersOn(index, scene),
      types: wireTypes,
      codec: tappedCodec(earOf(scene)),
    })
    return new Host(scene, node)
  }

  private constructor(scene: Scene, node: ClusterNode) {
    this.node = node
    this.#scene = scene
    const { life, traffic } = scene
    const { events } = node.system
    scene.isListed = (id, actor) => node.actors.catalog.get(id)?.instance === actor
    events.subscribe(ActivationBecame, ({ id, generation, state }) => {
      life.record({ kind: "became", host: node.name, id: id.name, generation, state })
      if (state === "valid") life.sometimes("an actor is activated")
    })
    events.subscribe(DeadLetter, ({ message }) => this.#undelivered(message))
    void node.over.then(() => this.lookAtCatalog())
    for (let client = 0; client < traffic.clients; client += 1) void this.#client()
  }

  /** Some activation that runs here, or ran until just now, calls another or saves. */
  speak(): void {
    const { speakers, random } = this.#scene
    if (speakers.size > 0) random.pick([...speakers])()
  }

  /** Ends an actor, if it runs here. */
  release(id: string): void {
    void this.node.actors.catalog.get(id)?.deactivate("asked")
  }

  /** Says of another node that it is down, though it is not. */
  async down(machineHost: string): Promise<void> {
    const { registry } = this.node
    const member = registry.view.members.find(({ node }) => node.host === machineHost)
    if (member === undefined || member.node.equals(registry.node)) return
    this.#scene.life.sometimes(`a node is declared down: ${await registry.down(member.node)}`)
  }

  /** Everything that was told has been heard, and nothing else happens meanwhile. */
  lookAtCatalog(): void {
    this.node.system.events.flush()
    const entries = Array.from(this.node.actors.catalog.all, ({ key, generation, state }) => {
      return { id: key, generation, state }
    })
    this.#scene.life.record({ kind: "catalog", host: this.node.name, entries })
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
    // It may start the actor, which may call others at once that are about to start too.
    const timeoutMs = 3 * this.#scene.cluster.settings.requestTimeoutMs
    const plan = { ...this.#scene.drawn(draft), impatience: undefined, aborts: false, timeoutMs }
    const failed = await this.#scene.call(this.#handleOf, plan)
    return failed === undefined ? undefined : `${(failed as { code?: string }).code}: ${failed.message}`
  }

  readonly #handleOf = (type: string, key: string) =>
    this.node.system.actor(type, key) as unknown as PerformerHandle

  /** Calls this and that, sometimes several at once, and waits for the last of them or does not. */
  async #client(): Promise<void> {
    const { traffic, cluster, random } = this.#scene
    for (;;) {
      await this.#scene.sleep(random.between(0, traffic.pauseMs))
      if (cluster.isOver || this.node.hasLeft) return
      const id = this.#pick()
      const calls = 1 + random.below(traffic.burst)
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

  /**
   * Later ones only, or it could wait for one that waits for it; except that it may come back to where it
   * began.
   */
  #pathFrom(id: string): readonly string[] {
    const { random, traffic } = this.#scene
    const later = traffic.ids.slice(traffic.ids.indexOf(id) + 1)
    if (later.length === 0) return []
    const at = random.below(later.length)
    const path = [later[at] as string]
    if (random.chance(0.3) && at + 1 < later.length) path.push(random.pick(later.slice(at + 1)))
    if (random.chance(0.3)) path.push(id)
    return path
  }

  #pick(): string {
    const { random, traffic } = this.#scene
    return random.pick(random.chance(0.6) ? traffic.hot : traffic.ids)
  }

  #addressed(id: string) {
    const seq = this.#seqs.get(id) ?? 0
    this.#seqs.set(id, seq + 1)
    return { id, seq, sender: this.node.name }
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

const METHODS: readonly Method[] = ["add", "add", "add", "read", "read", "glance", "pass", "pass"]

/** Hears what leaves. */
function earOf({ life, tap }: Scene): CodecEar {
  const sends = new Map<number, number>()
  let again: string | undefined
  return {
    answered: ({ id, generation }) => tap.passed({ what: "reply", id, generation }),
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

import {
  ActorId,
  type ActorRef,
  Behaviors,
  CallError,
  NodeFenced,
  NodeId,
  NodeRejoined,
  StoreUnavailableError,
} from "../../src/index.js"
import type { Registry } from "../../src/registry/registry.js"
import { type Life, SeededRandom, startSystem } from "../../src/sim/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { Activation, type Asked, type Hint, notDelivered, type Outcome } from "./activation.js"
import { toldOf } from "./door-ledger.js"
import { HostTap } from "./host-tap.js"
import { keptStateCodec } from "./kept-state.js"
import { overheardLog } from "./overheard-log.js"
import type { RegistryShow } from "./show.js"
import { drawManners } from "./store-manners.js"
import { TappedClock } from "./tapped-clock.js"
import { TappedStore } from "./tapped-store.js"

/**
 * One life of one node: a system with a registry, and what stands here for everything that is built on them. It keeps a table of
 * activations, starts one where the registry says that it may, passes on what belongs elsewhere, and lets go.
 */
export class Host {
  readonly name: string
  /** Resolves when it has left. */
  readonly over: Promise<void>
  readonly #life: Life
  readonly #show: RegistryShow
  readonly #system: ActorSystem
  readonly #registry: Registry
  readonly #clock: TappedClock
  readonly #store: TappedStore
  readonly #random: SeededRandom
  readonly #activations = new Map<string, Activation>()
  /** Those that are over and do not know it yet. */
  readonly #stragglers = new Set<Activation>()
  #count = 0
  #isOver = false
  #left: () => void = () => {}

  /** Rejects if the store, or the join, does not answer. */
  static async enter(life: Life, show: RegistryShow, act: number): Promise<Host> {
    const clock = new TappedClock(life)
    const name = `${life.name}/${act}`
    const { settings, store: shared } = show
    const tap = new HostTap(name, { life, show, clock })
    let opened: TappedStore | undefined
    const provider = shared.provider(life, { timeoutMs: show.storeTimeoutMs })
    const system = await startSystem(
      { ...life, ports: { ...life.ports, clock } },
      {
        ...settings,
        namespace: show.namespace,
        listen: { host: life.host, port: PORT, secret: "a secret of the play" },
        logger: overheardLog(life),
        store: {
          open: async (namespace, ports) => {
            opened = new TappedStore(await provider.open(namespace, ports), tap, drawManners(life, show))
            return opened
          },
        },
      },
    )
    const host = new Host(name, { life, show, system, clock, store: opened as TappedStore })
    tap.placementTold = (id) => host.noteCached(id)
    return host
  }

  private constructor(name: string, { life, show, system, clock, store }: HostParts) {
    this.name = name
    this.#life = life
    this.#show = show
    this.#system = system
    this.#registry = ActorSystem.registryOf(system) as Registry
    this.#clock = clock
    this.#store = store
    this.#random = new SeededRandom(life.ports.random.uint32())
    this.over = new Promise((resolve) => {
      this.#left = resolve
    })
    system.events.subscribe(NodeFenced, ({ node, because }) => {
      life.record({ kind: "stopped", incarnation: node.incarnation })
      life.sometimes(`a node is fenced: ${because}`)
    })
    system.events.subscribe(NodeRejoined, () =>
      life.sometimes("a fenced node comes back as a new incarnation"),
    )
    system.spawn(this.#desk(), "host")
  }

  get registry(): Registry {
    return this.#registry
  }

  /** An operation that comes in here. One that was not delivered is tried once more. */
  async operate(asked: Asked): Promise<Outcome> {
    const outcome = await this.#serve(asked, 0)
    if (outcome.kind !== "not-delivered" || this.#isOver) return outcome
    await this.sleep(this.#random.between(0, 200))
    return this.#serve(asked, 0)
  }

  /** Everything that runs here, or ran until just now, wants to say something. */
  speak(): void {
    for (const activation of this.#activations.values()) activation.say()
    for (const activation of this.#stragglers) activation.say()
  }

  /** Lets go of an actor, whether something is under way in it or not. */
  async release(id: string): Promise<void> {
    const activation = this.#activations.get(id)
    if (activation === undefined) return
    if (this.#random.chance(0.5)) await activation.idle()
    const released = this.#registry.unregister(activation.tenure)
    if (this.#random.chance(0.5)) void this.#startAgain(activation)
    this.#life.sometimes(`a release: ${await released}`)
  }

  /** Says of another node that it is down, though it is not. */
  async down(machineHost: string): Promise<void> {
    const others = this.#registry.view.members.filter(({ node }) => node.host === machineHost)
    const [member] = others
    if (member === undefined || member.node.equals(this.#registry.node)) return
    this.#life.sometimes(`a node is declared down: ${await this.#registry.down(member.node)}`)
  }

  /** Leaves as planned. Half of the time what is under way is given up on. */
  async leave(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    const registry = this.#registry
    const { node } = registry
    registry.leave()
    this.#life.record({ ...toldOf(node.toString(), "leaving", this.#life.trueMs()) })
    if (this.#random.chance(0.5)) {
      const settled = Promise.all([...this.#activations.values()].map((activation) => activation.idle()))
      await Promise.race([settled, this.sleep(2_000)])
    }
    await this.#system.stop()
    this.#life.sometimes("a node leaves and comes back")
    this.#show.left(node.toString())
    this.#left()
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#life.ports.clock.setTimer(ms, resolve))
  }

  /** What the cache says of it by now. */
  noteCached(id: string): void {
    const [type = "", key = ""] = id.split("/")
    const where = this.#registry.cached(ActorId.of(this.#show.namespace, type, key))
    if (where === undefined) return
    const revision = where.kind === "placed" ? where.generation : where.revision
    this.#life.record({ kind: "cached", who: this.name, id, revision })
  }

  /** The actor that other nodes pass operations to. */
  #desk() {
    return Behaviors.receive<Passed>((_context, { asked, hops, replyTo }) => {
      void this.#serve(asked, hops).then((outcome) => replyTo.tell(outcome))
      return Behaviors.same
    })
  }

  async #serve(asked: Asked, hops: number): Promise<Outcome> {
    const here = this.#activations.get(asked.id)
    if (here !== undefined) return here.turn(asked)
    const [type = "", key = ""] = asked.id.split("/")
    const id = ActorId.of(this.#show.namespace, type, key)
    const isBold = this.#random.chance(0.1)
    try {
      // Who was sent here by another one's cache does not believe its own.
      const placement = isBold
        ? undefined
        : await (hops > 0 ? this.#registry.read(id) : this.#registry.lookup(id))
      this.noteCached(asked.id)
      if (placement !== undefined && this.#isElsewhere(placement)) {
        const { epoch } = this.#store
        const outcome = await this.#pass(placement, asked, hops)
        if (hops === 0) return outcome
        return {
          ...outcome,
          hint: { epoch, node: placement.node.toString(), generation: placement.generation },
        }
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      return notDelivered("the store does not say where the actor is")
    }
    return this.#claim(id, asked, hops)
  }

  /** What a node that is gone had is up for claiming. */
  #isElsewhere({ node }: { readonly node: NodeId }): boolean {
    return !node.equals(this.#registry.node) && this.#registry.view.has(node)
  }

  async #claim(id: ActorId, asked: Asked, hops: number): Promise<Outcome> {
    const known = this.#registry.cached(id)
    const registration = await this.#registry.register(id)
    this.noteCached(asked.id)
    if (registration.kind === "acquired") return this.#activationOf(registration.tenure, asked.id).turn(asked)
    const { because } = registration
    if (because.kind === "owned") {
      this.#life.sometimes("a race is lost", known?.kind === "absent")
      return this.#pass(because, asked, hops)
    }
    this.#life.sometimes(`a claim is refused: ${because.kind}`)
    return notDelivered(because.kind)
  }

  /** Somebody wants it before its release is through. */
  async #startAgain({ tenure, id }: Activation): Promise<void> {
    const registration = await this.#registry.register(tenure.id)
    if (registration.kind === "acquired") this.#activationOf(registration.tenure, id)
  }

  /** One for each tenure. */
  #activationOf(tenure: Activation["tenure"], id: string): Activation {
    const known = this.#activations.get(id)
    if (known?.tenure === tenure) return known
    this.#count += 1
    const activation = new Activation(tenure, {
      name: `${this.name}:${this.#count}`,
      life: this.#life,
      clock: this.#clock,
      state: { store: this.#store, clock: this.#clock, codec: keptStateCodec, maxStateBytes: 1_000_000 },
      sleep: (ms) => this.sleep(ms),
    })
    this.#activations.set(id, activation)
    tenure.watch({
      tenureEnded: () => {
        if (this.#activations.get(id) === activation) this.#activations.delete(id)
        this.#stragglers.add(activation)
        void this.sleep(STRAGGLES_MS).then(() => this.#stragglers.delete(activation))
      },
    })
    return activation
  }

  async #pass({ node }: { readonly node: NodeId }, asked: Asked, hops: number): Promise<Outcome> {
    if (hops === MOST_HOPS) return notDelivered("it was passed on too often")
    this.#life.sometimes("an operation is passed on")
    this.#life.sometimes("an operation is passed on twice", hops === 1)
    try {
      const outcome = await this.#system.ask<Passed, Outcome>(
        this.#deskOf(node),
        (replyTo) => ({ asked, hops: hops + 1, replyTo }),
        { timeoutMs: this.#show.settings.requestTimeoutMs },
      )
      if (outcome.hint !== undefined) this.#misdirected(asked.id, outcome.hint)
      return outcome
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      return error.delivery === "unknown" ? { kind: "unknown" } : notDelivered(error.message)
    }
  }

  #misdirected(id: string, { epoch, node, generation }: Hint): void {
    const [type = "", key = ""] = id.split("/")
    const where = { kind: "placed", node: NodeId.parse(node), generation } as const
    this.#registry.misdirected(ActorId.of(this.#show.namespace, type, key), epoch, where)
    this.#life.sometimes("a node is told that its cache was wrong")
    this.noteCached(id)
  }

  #deskOf({ address }: NodeId): ActorRef<Passed> {
    return this.#system.resolve(`troupe.tcp://${this.#show.namespace}@${address}/user/host`)
  }
}

/** An operation on its way from node to node. */
interface Passed {
  readonly asked: Asked
  readonly hops: number
  readonly replyTo: ActorRef<Outcome>
}

interface HostParts {
  readonly life: Life
  readonly show: RegistryShow
  readonly system: ActorSystem
  readonly clock: TappedClock
  readonly store: TappedStore
}

const PORT = 25_520
const MOST_HOPS = 2
const STRAGGLES_MS = 2_000

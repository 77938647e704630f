import {
  type ActorRef,
  type ActorSystem,
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  AssociationQuarantined,
  Behaviors,
  CallError,
  ConnectionRefused,
  DeadLetter,
  NodeId,
  NodeUnreachableError,
  Terminated,
} from "../../src/index.js"
import { type Life, SeededRandom, startSystem } from "../../src/sim/index.js"
import { fingerprint, link } from "./fingerprint.js"
import { type Answer, inbox, type Manner, type Note, type Question, type ToInbox } from "./inbox.js"
import type { RemotingSettings } from "./knobs.js"
import { drawLargePayload, drawPayload } from "./payload.js"
import type { Plant } from "./plant.js"
import { remotingOf } from "./remoting-of.js"
import { Tap } from "./tap.js"

/** What all players of a run share. */
export interface Show {
  readonly settings: RemotingSettings
  readonly plant: Plant
  /** Machines by host. */
  readonly machines: ReadonlyMap<string, string>
  /** The node on each machine now. */
  readonly players: Map<string, Player>
  isOver: boolean
  operation(count: number): void
}

/** One life of one system, and what is done in it. */
export class Player {
  readonly name: string
  readonly #life: Life
  readonly #show: Show
  readonly #random: SeededRandom
  readonly #system: ActorSystem
  /** `host:port` of the others. */
  readonly #peers: readonly string[]
  readonly #chains = new Map<string, { seq: number; hash: number }>()
  /** Refs that came over the wire; some of those whom they mean are gone. */
  readonly #learned: ActorRef<ToInbox>[] = []
  readonly #inboxes: ActorRef<ToInbox>[] = []
  readonly #named = new Map<string, ActorRef<ToInbox>>()
  #questions = 0
  #watches = 0
  #isClosing = false

  static async enter(life: Life, show: Show, act: number): Promise<Player> {
    const name = `${life.name}/${act}`
    const { plant, settings } = show
    const tap = new Tap({
      opened: (host) => life.record({ kind: "opened", player: name, host }),
      blocked: (host) => life.record({ kind: "blocked", player: name, host }),
      drained: (host) => life.record({ kind: "drained", player: name, host }),
      closed: (host) => life.record({ kind: "closed", player: name, host }),
      arrived: (message, connection) => {
        // One of its own is a dead letter, for which it is decoded.
        if (!isNote(message) || message.chain.startsWith(`${name}>`)) return
        const { chain, seq } = message
        life.record({ kind: "arrived", player: name, chain, seq, connection })
      },
    })
    const { network, digest } = life.ports
    const ports = {
      ...life.ports,
      network: tap.network(plant.network?.(network, life) ?? network),
      digest: plant.digest?.(digest) ?? digest,
    }
    const system = await startSystem(
      { ...life, ports },
      {
        ...settings,
        namespace: "remoting",
        listen: { host: life.host, port: PORT, secret: "a secret of the play" },
        codec: tap.codec(plant.codec?.()),
      },
    )
    return new Player(name, life, show, system)
  }

  private constructor(name: string, life: Life, show: Show, system: ActorSystem) {
    this.name = name
    this.#life = life
    this.#show = show
    this.#system = system
    this.#random = new SeededRandom(life.ports.random.uint32())
    this.#peers = [...show.machines.keys()]
      .filter((host) => host !== life.host)
      .map((host) => `${host}:${PORT}`)
    life.record({ kind: "born", player: name, machine: show.machines.get(life.host) })
    life.record({ kind: "incarnated", player: name, node: `${system.node}` })
    this.#listen()
    for (let index = 0; index < INBOXES; index += 1) this.#open(index)
  }

  /** Does one thing after the other until the show is over, or this life of the system is. */
  async perform(): Promise<"stays" | "leaves"> {
    const random = this.#random
    while (!this.#show.isOver) {
      await this.#sleep(random.between(0, 200))
      const peer = random.pick(this.#peers)
      switch (random.below(20)) {
        case 0:
          await this.#tellLarge(this.#target(peer))
          break
        case 1:
          this.#tellTooMany(peer)
          break
        case 2:
        case 3:
          this.#watch(this.#target(peer))
          break
        case 4:
          this.#close(random.below(INBOXES))
          break
        case 5:
          if (random.chance(0.3)) void this.#shutOut(peer)
          break
        case 6:
          if (random.chance(0.15)) return "leaves"
          if (random.chance(0.3)) await this.#reincarnate(peer)
          break
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
          for (let count = 1 + random.below(3); count > 0; count -= 1) void this.#askOne(this.#target(peer))
          break
        default: {
          const target = this.#target(peer)
          for (let count = 1 + random.below(6); count > 0; count -= 1)
            this.#tell(target, drawPayload(random, this.#refs))
        }
      }
    }
    return "stays"
  }

  async leave(): Promise<void> {
    this.#isClosing = true
    await this.#system.stop()
    this.#life.record({ kind: "left", player: this.name })
    this.#life.sometimes("a system stops and starts again")
  }

  /**
   * After the faults: everybody is asked something, which connects whoever is not, and then told something;
   * all of it arrives.
   */
  async speakOnceMore(): Promise<void> {
    for (const peer of this.#peers) await this.#askAtLast(this.#byName(peer, 0))
    for (const peer of this.#peers) {
      for (let count = 0; count < 4; count += 1)
        this.#tell(this.#byName(peer, count % INBOXES), drawPayload(this.#random, this.#refs), true)
    }
  }

  async closeAll(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#inboxes.map((ref) => this.#system.stopActor(ref)))
  }

  #listen(): void {
    const life = this.#life
    const { events } = this.#system
    events.subscribe(DeadLetter, ({ message, reason }) => {
      life.sometimes(`dead letter: ${reason}`)
      life.always("every message can be read", reason !== "unreadable" && reason !== "not-sendable")
      if (!isNote(message)) return
      const { chain, seq } = message
      life.record({ kind: "dead", player: this.name, chain, seq, refused: reason === "inbound-full" })
    })
    events.subscribe(AssociationConnected, ({ node }) => {
      life.sometimes("connected")
      const machine = this.#show.machines.get(node.host)
      life.record({ kind: "met", player: this.name, machine, node: `${node}` })
    })
    events.subscribe(AssociationLost, ({ reason }) => life.sometimes(`lost: ${reason}`))
    events.subscribe(AssociationFailed, ({ reason }) => life.sometimes(`dial failed: ${reason}`))
    events.subscribe(ConnectionRefused, ({ reason }) => life.sometimes(`connection refused: ${reason}`))
    events.subscribe(AssociationQuarantined, ({ authority, reason }) => {
      life.sometimes("quarantined by hand", reason === BY_HAND)
      life.always(
        "a good peer is never quarantined",
        reason === BY_HAND,
        () => `${this.name} has quarantined ${authority}: ${reason}`,
      )
    })
  }

  #open(index: number): void {
    if (this.#isClosing) return
    const behavior = inbox({
      life: this.#life,
      player: this.name,
      slow: this.#random.chance(0.3),
      sleep: (ms) => this.#sleep(ms),
      lateMs: () => this.#random.between(0, 2_000),
      stopped: () => void this.#sleep(this.#random.between(1, 20)).then(() => this.#open(index)),
    })
    this.#inboxes[index] = this.#system.spawn(behavior, inboxName(index))
  }

  #close(index: number): void {
    const ref = this.#inboxes[index] as ActorRef<ToInbox>
    if (this.#random.chance(0.5)) ref.tell({ kind: "fail" })
    else void this.#system.stopActor(ref)
  }

  #target(peer: string): ActorRef<ToInbox> {
    const random = this.#random
    if (this.#learned.length > 0 && random.chance(0.3)) return random.pick(this.#learned)
    return this.#byName(peer, random.below(INBOXES))
  }

  /** Now and then made anew: it is the path that counts, not the ref. */
  #byName(peer: string, index: number): ActorRef<ToInbox> {
    const path = `troupe.tcp://remoting@${peer}/user/${inboxName(index)}`
    const known = this.#named.get(path)
    if (known !== undefined && this.#random.chance(0.8)) return known
    const ref = this.#system.resolve<ToInbox>(path)
    this.#named.set(path, ref)
    return ref
  }

  get #refs(): readonly ActorRef<never>[] {
    return [...this.#learned, ...this.#inboxes]
  }

  #tell(ref: ActorRef<ToInbox>, payload: unknown, settled = false): void {
    const { path } = ref
    const chain = `${this.name}>${path}`
    const before = this.#chains.get(chain) ?? { seq: 0, hash: 0 }
    const seq = before.seq + 1
    const hash = link(before.hash, payload)
    this.#chains.set(chain, { seq, hash })
    const deferred = this.#system.association(path.address.authority as string) !== "connected"
    const host = path.address.host as string
    this.#life.record({ kind: "told", player: this.name, host, chain, seq, hash, deferred, settled })
    ref.tell({ kind: "note", chain, seq, meant: path.uid ?? 0, previous: before.hash, hash, payload })
    this.#show.operation(1)
  }

  /** Large and small ones in turn, some of them in one turn of the event loop and some not. */
  async #tellLarge(ref: ActorRef<ToInbox>): Promise<void> {
    const random = this.#random
    for (let count = 2 + random.below(12); count > 0 && !this.#isClosing; count -= 1) {
      this.#tell(ref, random.chance(0.7) ? drawLargePayload(random) : drawPayload(random, this.#refs))
      if (random.chance(0.3)) await this.#sleep(random.between(0, 1))
    }
  }

  /** More than may wait. Whatever is refused is counted in the same instant. */
  #tellTooMany(peer: string): void {
    const { perAuthority = 0, total = 0 } = this.#show.settings.deferred
    const most = Math.min(perAuthority, total)
    if (most > 50 || this.#system.association(peer) === "connected") return
    const before = this.#system.deadLetterCount
    const ref = this.#byName(peer, 0)
    for (let count = 0; count < most + 5; count += 1) this.#tell(ref, count)
    const refused = this.#system.deadLetterCount - before
    this.#life.always("no more wait than may", refused >= 5, () => `of ${most + 5}, ${refused} were refused`)
  }

  async #askOne(ref: ActorRef<ToInbox>): Promise<void> {
    const random = this.#random
    const manner: Manner = random.pick(["at once", "at once", "late", "twice", "hoard", "never"])
    const pass = random.chance(0.3) ? this.#byName(random.pick(this.#peers), 0) : undefined
    const timeoutMs = random.pick([50, 500, this.#show.settings.requestTimeoutMs])
    const abort = random.chance(0.1) ? new AbortController() : undefined
    if (abort !== undefined) void this.#sleep(random.between(0, 300)).then(() => abort.abort())
    const signal = abort === undefined ? {} : { signal: abort.signal }
    await this.#ask(ref, { manner, pass }, { timeoutMs, ...signal })
  }

  async #askAtLast(ref: ActorRef<ToInbox>): Promise<void> {
    const failure = await this.#ask(ref, { manner: "at once", pass: undefined }, { timeoutMs: 5_000 })
    this.#life.always(
      "once the faults are over every question is answered",
      failure === undefined,
      () => `${this.name} asked ${ref.path}: ${failure}`,
    )
  }

  /** What it failed with, if it did. */
  async #ask(
    ref: ActorRef<ToInbox>,
    how: Pick<Question, "manner" | "pass">,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<unknown> {
    const life = this.#life
    this.#questions += 1
    const id = `${this.name}?${this.#questions}`
    const payload = drawPayload(this.#random, this.#refs)
    const meant = ref.path.uid ?? 0
    const end = (outcome: string) => life.record({ kind: "ended", player: this.name, id, outcome })
    life.record({ kind: "asked", player: this.name, id })
    this.#show.operation(1)
    try {
      const answer = await this.#system.ask<ToInbox, Answer>(
        ref,
        (replyTo) => ({ kind: "question", id, meant, payload, ...how, replyTo }),
        options,
      )
      end("answered")
      life.sometimes("an ask is answered")
      life.sometimes("an ask is answered by a third node", how.pass !== undefined)
      life.always(
        "an answer is the right one",
        answer.id === id && answer.hash === fingerprint(payload),
        () => `${id}: the answer is to ${answer.id}, with ${answer.hash}`,
      )
      this.#learn(answer.by)
      return undefined
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      end(error.delivery)
      life.sometimes(`an ask fails: ${error.name}, ${error.delivery}`)
      return error
    }
  }

  #learn(ref: ActorRef<ToInbox>): void {
    if (ref.path.address.host === this.#life.host) return
    this.#learned.push(ref)
    if (this.#learned.length > 6) this.#learned.shift()
  }

  #watch(ref: ActorRef<ToInbox>): void {
    const life = this.#life
    this.#watches += 1
    const watch = `${this.name} watch ${this.#watches}`
    const { host } = ref.path.address
    const machine = this.#show.machines.get(host as string)
    life.record({ kind: "watched", player: this.name, watch, machine, uid: ref.path.uid ?? 0 })
    const watcher = this.#system.spawn(
      Behaviors.setup<"unwatch">((context) => {
        context.watch(ref)
        return Behaviors.receive<"unwatch">(
          () => {
            context.unwatch(ref)
            life.record({ kind: "unwatched", watch })
            return Behaviors.same
          },
          (_context, signal) => {
            if (!(signal instanceof Terminated)) return Behaviors.same
            const cause = causeOf(signal.cause)
            life.record({ kind: "terminated", watch, cause })
            life.sometimes(`a watched actor is gone: ${cause}`)
            return Behaviors.same
          },
        )
      }),
    )
    const random = this.#random
    if (random.chance(0.2)) void this.#sleep(random.between(0, 500)).then(() => watcher.tell("unwatch"))
  }

  async #shutOut(peer: string): Promise<void> {
    if (this.#system.association(peer) === "quarantined") return
    this.#system.quarantine(peer, BY_HAND)
    if (this.#show.settings.quarantineMs <= 2_000 && this.#random.chance(0.5)) return
    await this.#sleep(this.#random.between(10, 1_500))
    this.#system.liftQuarantine(peer)
    this.#life.sometimes("a quarantine is lifted by hand")
  }

  /**
   * As a node does that has lost its lease: another node to all others, with the same actors, and with what
   * waits to be sent.
   */
  async #reincarnate(peer: string): Promise<void> {
    if (this.#random.chance(0.5)) await this.#tellLarge(this.#byName(peer, 0))
    const { host, port } = this.#system.node as NodeId
    const next = NodeId.fresh(host, port, this.#life.ports.random)
    this.#life.record({ kind: "incarnated", player: this.name, node: `${next}` })
    remotingOf(this.#system).reincarnate(next)
    this.#life.sometimes("a node goes on as a new incarnation")
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#life.ports.clock.setTimer(ms, resolve))
  }
}

const PORT = 25_520
const INBOXES = 2
const BY_HAND = "by hand"

function inboxName(index: number): string {
  return `inbox-${index}`
}

function isNote(message: unknown): message is Note {
  return typeof message === "object" && message !== null && (message as Note).kind === "note"
}

function causeOf(cause: unknown): string {
  if (cause === undefined) return "none"
  if (cause instanceof NodeUnreachableError) return "unreachable"
  return cause instanceof Error ? cause.message : String(cause)
}

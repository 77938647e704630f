import { Actor, FencedError } from "../../src/index.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import { Answer, type Asked, type Method } from "./asked.js"
import type { Overlap } from "./events.js"
import type { CallDraft, PerformerHandle, Scene } from "./scene.js"

/** What an actor of this workload keeps: all that was added to it, in order. */
export interface Kept {
  ops: number[]
  ticks: number
  /** The activation that saved it. */
  by: string
}

/** How the types differ. Only the first machines host those that say so. */
interface Traits {
  readonly type: string
  readonly methods?: ActorClass["methods"]
  readonly reentrant?: boolean
  readonly idleAfterMs?: number
  readonly mailboxCapacity?: number
  readonly failsToStart?: boolean
  readonly ticksMs?: number
  /** Every so many ticks it saves. */
  readonly savesEvery?: number
  readonly dawdles?: boolean
  readonly hostedBy?: number
}

const READERS = { read: { readOnly: true }, glance: { alwaysInterleave: true } } as const

const cast: readonly Traits[] = [
  { type: "plain" },
  { type: "reader", methods: READERS },
  { type: "reentrant", reentrant: true, methods: READERS },
  { type: "fleeting", idleAfterMs: 800, dawdles: true },
  { type: "cramped", mailboxCapacity: 2 },
  { type: "moody", failsToStart: true, idleAfterMs: 1_000 },
  { type: "ticking", ticksMs: 700, savesEvery: 4 },
  { type: "choosy", hostedBy: 2, idleAfterMs: 1_500 },
  { type: "rare", hostedBy: 1, idleAfterMs: 1_500 },
]

export const typeNames: readonly string[] = cast.map(({ type }) => type)

/** Asks its doors all the time, and so shows it at once if they are open for too long. */
const restless: Traits = { type: "restless", ticksMs: 60 }

/** Whether few nodes host such actors. */
export function isRare(id: string): boolean {
  return cast.some(({ type, hostedBy }) => hostedBy !== undefined && id.startsWith(`${type}/`))
}

/** Whether a call that comes back to such an actor is let in. */
export function letsIn(id: string, method: Method): boolean {
  const traits = cast.find(({ type }) => id.startsWith(`${type}/`))
  return traits?.reentrant === true || traits?.methods?.[method]?.alwaysInterleave === true
}

/** The classes that the machine of that number hosts. */
export function performersOn(machine: number, scene: Scene): readonly ActorClass[] {
  return [...cast, restless]
    .filter(({ hostedBy = Number.POSITIVE_INFINITY }) => machine < hostedBy)
    .map((traits) => performer(traits, scene))
}

function performer(traits: Traits, scene: Scene): ActorClass {
  const { life, traffic, cluster, random } = scene

  class Performer extends Actor<Kept> {
    readonly #by = scene.freshName()
    readonly #running = { by: this.#by, id: () => this.#id, token: () => this.fencingToken }
    readonly #seqs = new Map<string, number>()
    #busy = 0
    /** The chains of the turns that run. */
    readonly #turns = new Set<readonly string[]>()
    #saves = 0
    /** A call or a save that belongs to no turn, and that nobody waits for. */
    readonly #speak = () => {
      if (random.chance(0.5)) this.#save().catch(() => {})
      else void this.#callAside()
    }

    protected override initialState(): Kept {
      return { ops: [], ticks: 0, by: "" }
    }

    protected override async onActivate(): Promise<void> {
      const { ops } = this.state
      scene.tap.passed({ what: "start", id: this.#id, generation: this.fencingToken })
      life.record({
        kind: "loaded",
        id: this.#id,
        generation: this.fencingToken,
        by: this.#by,
        ops: [...ops],
        rivals: scene.codeBegan(this.#running),
      })
      try {
        if (traffic.hanging > 0) await this.#mayHang()
        if (random.chance(0.3)) await scene.sleep(random.between(0, 100))
        if (traits.failsToStart && !cluster.isOver && random.chance(0.4)) {
          life.sometimes("an actor fails to start")
          // Nobody waits for the save, which is in flight when the activation ends.
          if (traffic.hanging > 0 && random.chance(0.5)) this.#save().catch(() => {})
          throw new Error("not today")
        }
        if (random.chance(0.05)) await this.#callAhead()
        if (traits.ticksMs !== undefined) this.timers.every(traits.ticksMs, () => this.#tick())
        scene.speakers.add(this.#speak)
      } finally {
        scene.codeEnded(this.#running)
      }
    }

    protected override async onDeactivate(reason: string): Promise<void> {
      life.sometimes(`an activation ends: ${reason}`)
      scene.codeBegan(this.#running)
      try {
        if (traffic.hanging > 0) await this.#mayHang()
        if (traffic.hanging > 0 && random.chance(0.1)) throw new Error("not like this")
        if (traits.dawdles || random.chance(0.2)) await scene.sleep(random.between(0, 50))
        if (reason !== "fenced" && random.chance(0.2)) await this.#save()
        // Its code may go on for a while, and call others.
        void scene.sleep(LINGERING_MS).then(() => scene.speakers.delete(this.#speak))
      } finally {
        scene.codeEnded(this.#running)
      }
    }

    /** Saves. */
    async add(asked: Asked): Promise<Answer> {
      return this.#turn("add", asked, async () => {
        this.state.ops.push(asked.op)
        const saves = this.#saves
        if (traffic.hanging > 0) await this.#mayHang()
        if (!cluster.isOver && random.chance(0.1)) {
          traffic.mayStopSoon(life.name)
          void this.#callAside()
        }
        if (asked.thinkMs > 0) await scene.sleep(asked.thinkMs)
        if (await this.#saveOp(asked.op, saves)) life.record({ kind: "acked", id: asked.id, op: asked.op })
        if (random.chance(0.03)) this.deactivate()
      })
    }

    read(asked: Asked): Promise<Answer> | Answer {
      if (asked.thinkMs > 0) return this.#turn("read", asked, () => scene.sleep(asked.thinkMs))
      const overlap = this.#begin("read", asked)
      this.#end(overlap)
      return this.#answer(asked)
    }

    async glance(asked: Asked): Promise<Answer> {
      return this.#turn("glance", asked, () => scene.sleep(asked.thinkMs))
    }

    /** Asks the next one, and answers whatever comes of that, or fails with it. */
    async pass(asked: Asked): Promise<Answer> {
      return this.#turn("pass", asked, async () => {
        const [next, ...path] = asked.path
        if (next === undefined) return
        const chain = chainOf(asked)
        const waits = asked.isOneWay || asked.from === undefined ? [] : [...asked.waits, asked.op]
        const failed = await this.#call(next, { path, chain, waits })
        if (failed !== undefined && random.chance(0.5)) throw failed
      })
    }

    /** Before the first message; whatever comes of it. */
    async #callAhead(): Promise<void> {
      const later = traffic.ids.slice(traffic.ids.indexOf(this.#id) + 1)
      if (later.length > 0) await this.#call(random.pick(later), { chain: [this.#id] })
    }

    /**
     * Nobody waits for it, so this activation may be over before it has left; and it may wait long, for those
     * who are hardly ever there. It counts as made in whatever turns run at that moment.
     */
    async #callAside(): Promise<void> {
      const later = traffic.ids.slice(traffic.ids.indexOf(this.#id) + 1)
      const rare = later.filter((id) => isRare(id))
      const among = rare.length > 0 && random.chance(0.5) ? rare : later
      if (among.length === 0) return
      await this.#call(random.pick(among), { chain: [this.#id], isAside: true, via: [...this.#turns].flat() })
    }

    /**
     * Whether it was saved. An operation whose save was refused is not done, and never will be, unless
     * another save had it too. Some code goes on as if nothing had happened: its reply must not leave.
     */
    async #saveOp(op: number, savesBefore: number): Promise<boolean> {
      try {
        await this.#save()
        return true
      } catch (error) {
        if (!(error instanceof FencedError)) throw error
        const because = error.message
        if (because.endsWith("not known")) life.sometimes("the outcome of a save is never known")
        const isAlone = this.#saves === savesBefore + 1
        if (isAlone && because.endsWith("refused")) life.record({ kind: "not-done", op, because })
        if (random.chance(0.5)) throw error
        await scene.sleep(random.between(0, LINGERING_MS))
        return false
      }
    }

    #save(): Promise<void> {
      this.#saves += 1
      this.state.by = this.#by
      return this.save()
    }

    #call(next: string, way: Way): Promise<Error | undefined> {
      const { path = [], chain, waits = [], isAside = false, via = [] } = way
      const seq = this.#seqs.get(next) ?? 0
      this.#seqs.set(next, seq + 1)
      const method: Method = path.length > 0 ? "pass" : random.chance(0.7) ? "add" : "glance"
      const from = { id: this.#id, generation: this.fencingToken }
      const draft = { id: next, method, sender: this.#by, seq, chain, waits, path, from, isAside, via }
      return scene.call((type, key) => this.#handle(type, key), scene.drawn(draft))
    }

    #handle(type: string, key: string): PerformerHandle {
      return this.actor(type, key) as unknown as PerformerHandle
    }

    async #tick(): Promise<void> {
      const overlap = this.#begin("add", undefined)
      try {
        this.state.ticks += 1
        if (traits.savesEvery !== undefined && this.state.ticks % traits.savesEvery === 0) await this.#save()
      } finally {
        this.#end(overlap)
      }
    }

    async #turn(method: Method, asked: Asked, task: () => Promise<void>): Promise<Answer> {
      const overlap = this.#begin(method, asked)
      const chain = [...asked.via, ...chainOf(asked)]
      this.#turns.add(chain)
      try {
        await task()
      } finally {
        this.#turns.delete(chain)
        this.#end(overlap)
      }
      return this.#answer(asked)
    }

    #begin(method: Method, asked: Asked | undefined): Overlap {
      const id = this.#id
      const generation = this.fencingToken
      const overlap = this.#overlapOf(method, asked)
      life.record({
        kind: "turn",
        by: this.#by,
        id,
        generation,
        overlap,
        op: asked?.op,
        sender: asked?.sender ?? "",
        seq: asked?.seq ?? 0,
        maker: asked?.from,
        isNear: asked?.sender.startsWith(`${scene.name}:`) === true,
        memory: this.state.ops.length,
        isListed: scene.isListed(id, this),
        rivals: scene.codeBegan(this.#running),
      })
      const isAwaited = asked?.chain.includes(asked.id) === true
      scene.tap.passed({ what: "turn", id, generation, isAwaited })
      this.#busy += 1
      return overlap
    }

    #end(overlap: Overlap): void {
      this.#busy -= 1
      scene.codeEnded(this.#running)
      life.record({ kind: "turn-ended", by: this.#by, overlap })
    }

    #overlapOf(method: Method, asked: Asked | undefined): Overlap {
      const options = traits.methods?.[method]
      if (asked === undefined) return "writer"
      if (options?.alwaysInterleave) return "between"
      const isChained = asked.chain.includes(asked.id) || asked.via.includes(asked.id)
      if (traits.reentrant && this.#busy > 0 && isChained) {
        life.sometimes("a reentrant actor is called by way of itself")
        return "between"
      }
      return options?.readOnly ? "reader" : "writer"
    }

    /** Longer than anybody waits for it. */
    async #mayHang(): Promise<void> {
      const { hanging } = traffic
      if (cluster.isOver || !random.chance(hanging)) return
      life.sometimes("a turn or a hook hangs")
      await scene.sleep(random.between(1, 2) * cluster.settings.requestTimeoutMs)
    }

    #answer({ op }: Asked): Answer {
      return new Answer(op, this.#id, this.fencingToken)
    }

    get #id(): string {
      return `${traits.type}/${this.key}`
    }
  }
  const { type, methods, reentrant, idleAfterMs, mailboxCapacity } = traits
  return Object.assign(Performer, {
    type,
    placement: traffic.placementOf(type),
    ...(methods && { methods }),
    ...(reentrant && { reentrant }),
    ...(idleAfterMs && { idleAfterMs }),
    ...(mailboxCapacity && { mailboxCapacity }),
  })
}

/** The actors that wait for a call that is made in this turn. */
function chainOf({ isOneWay, chain, id }: Asked): readonly string[] {
  return isOneWay ? [id] : [...chain, id]
}

const LINGERING_MS = 2_000

/** Of a call that an actor makes. */
interface Way extends Pick<CallDraft, "chain" | "isAside" | "via"> {
  readonly path?: readonly string[]
  readonly waits?: readonly number[]
}

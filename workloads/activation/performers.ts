import { Actor, type PlacementStrategy } from "../../src/index.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import { Answer, type Asked, type Method } from "./asked.js"
import type { Overlap } from "./events.js"
import type { CallDraft, PerformerHandle, Scene } from "./scene.js"

/** What an actor of this workload keeps: all that was added to it, in order. */
export interface Kept {
  ops: number[]
  ticks: number
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
  { type: "ticking", ticksMs: 700 },
  { type: "choosy", hostedBy: 2, idleAfterMs: 1_500 },
  { type: "rare", hostedBy: 1, idleAfterMs: 1_500 },
]

export const typeNames: readonly string[] = cast.map(({ type }) => type)

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
export function performersOn(
  machine: number,
  scene: Scene,
  placement: PlacementStrategy,
): readonly ActorClass[] {
  return cast
    .filter(({ hostedBy = Number.POSITIVE_INFINITY }) => machine < hostedBy)
    .map((traits) => performer(traits, scene, placement))
}

function performer(traits: Traits, scene: Scene, placement: PlacementStrategy): ActorClass {
  const { life, show, random } = scene

  class Performer extends Actor<Kept> {
    readonly #by = scene.freshName()
    readonly #seqs = new Map<string, number>()
    #busy = 0

    protected override initialState(): Kept {
      return { ops: [], ticks: 0 }
    }

    protected override async onActivate(): Promise<void> {
      if (random.chance(0.3)) await scene.sleep(random.between(0, 100))
      if (traits.failsToStart && !show.isOver && random.chance(0.4)) {
        life.sometimes("an actor fails to start")
        throw new Error("not today")
      }
      if (random.chance(0.05)) await this.#callAhead()
      if (traits.ticksMs !== undefined) this.timers.every(traits.ticksMs, () => this.#tick())
    }

    protected override async onDeactivate(reason: string): Promise<void> {
      life.sometimes(`an activation ends: ${reason}`)
      if (traits.dawdles || random.chance(0.2)) await scene.sleep(random.between(0, 50))
      if (reason !== "fenced" && random.chance(0.2)) await this.save()
    }

    /** Saves. */
    async add(asked: Asked): Promise<Answer> {
      return this.#turn("add", asked, async () => {
        this.state.ops.push(asked.op)
        if (!show.isOver && random.chance(0.1)) void this.#callAside()
        if (asked.thinkMs > 0) await scene.sleep(asked.thinkMs)
        await this.save()
        life.record({ kind: "acked", id: asked.id, op: asked.op })
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
        const chain = asked.isOneWay ? [asked.id] : [...asked.chain, asked.id]
        const waits = asked.isOneWay || asked.from === undefined ? [] : [...asked.waits, asked.op]
        const failed = await this.#call(next, { path, chain, waits })
        if (failed !== undefined && random.chance(0.5)) throw failed
      })
    }

    /** Before the first message; whatever comes of it. */
    async #callAhead(): Promise<void> {
      const later = show.ids.slice(show.ids.indexOf(this.#id) + 1)
      if (later.length > 0) await this.#call(random.pick(later), { chain: [this.#id] })
    }

    /** Nobody waits for it, so this activation may be over before it has left; and it may wait long, for those who are hardly ever there. */
    async #callAside(): Promise<void> {
      const later = show.ids.slice(show.ids.indexOf(this.#id) + 1)
      const rare = later.filter((id) => isRare(id))
      const among = rare.length > 0 && random.chance(0.5) ? rare : later
      if (among.length === 0) return
      show.mayStopSoon(life.name)
      await this.#call(random.pick(among), { chain: [this.#id], isAside: true })
    }

    #call(next: string, { path = [], chain, waits = [], isAside = false }: Way): Promise<Error | undefined> {
      const seq = this.#seqs.get(next) ?? 0
      this.#seqs.set(next, seq + 1)
      const method: Method = path.length > 0 ? "pass" : random.chance(0.7) ? "add" : "glance"
      const from = { id: this.#id, generation: this.fencingToken }
      const draft = { id: next, method, sender: this.#by, seq, chain, waits, path, from, isAside }
      return scene.call((type, key) => this.#handle(type, key), scene.drawn(draft))
    }

    #handle(type: string, key: string): PerformerHandle {
      return this.actor(type, key) as unknown as PerformerHandle
    }

    async #tick(): Promise<void> {
      const overlap = this.#begin("add", undefined)
      try {
        this.state.ticks += 1
        if (this.state.ticks % 4 === 0) await this.save()
      } finally {
        this.#end(overlap)
      }
    }

    async #turn(method: Method, asked: Asked, task: () => Promise<void>): Promise<Answer> {
      const overlap = this.#begin(method, asked)
      try {
        await task()
      } finally {
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
        isListed: scene.isListed(id, generation),
      })
      life.record({ kind: "door", what: "turn", id, generation })
      this.#busy += 1
      return overlap
    }

    #end(overlap: Overlap): void {
      this.#busy -= 1
      life.record({ kind: "turn-ended", by: this.#by, overlap })
    }

    #overlapOf(method: Method, asked: Asked | undefined): Overlap {
      const options = traits.methods?.[method]
      if (asked === undefined) return "writer"
      if (options?.alwaysInterleave) return "between"
      if (traits.reentrant && this.#busy > 0 && asked.chain.includes(asked.id)) {
        life.sometimes("a reentrant actor is called by way of itself")
        return "between"
      }
      return options?.readOnly ? "reader" : "writer"
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
    placement,
    ...(methods && { methods }),
    ...(reentrant && { reentrant }),
    ...(idleAfterMs && { idleAfterMs }),
    ...(mailboxCapacity && { mailboxCapacity }),
  })
}

/** Of a call that an actor makes. */
interface Way extends Pick<CallDraft, "chain" | "isAside"> {
  readonly path?: readonly string[]
  readonly waits?: readonly number[]
}

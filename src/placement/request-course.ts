import type { ActorId } from "../address/actor-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Authorities } from "./authorities.js"
import type { Denial, LookUpFailure, StepAnswer } from "./coordinator-event.js"
import type { CoordinatorCounts, CoordinatorSnapshot } from "./coordinator-snapshot.js"
import { type LastStep, type LongStep, newer, nextStep, type Step } from "./next-step.js"
import { OpenRequests } from "./open-requests.js"
import type { PlacementCommand } from "./placement-command.js"
import type { PlacementLog } from "./placement-log.js"
import type { CatalogView, PlacementCacheView } from "./placement-ports.js"
import type { PlacementRequest, Stage } from "./placement-request.js"
import {
  type Answer,
  denied,
  local,
  type PlacementWish,
  type Refusal,
  type Resolution,
  refused,
  remote,
} from "./resolution.js"
import type { Standing } from "./standing.js"
import { WaitingRoom } from "./waiting-room.js"

/** How a request goes from stage to stage, and what those who wait for it hear in the end. */
export class RequestCourse<Stored> {
  readonly #world: RequestWorld
  readonly #requests = new OpenRequests()
  readonly #room: WaitingRoom<Stored>
  readonly #counts = { activated: 0, denied: 0, failed: 0 }

  constructor(world: RequestWorld) {
    this.#world = world
    this.#room = new WaitingRoom(world.mostWaiters)
  }

  get counts(): Omit<CoordinatorCounts, "passivated"> {
    return { ...this.#room.counts, ...this.#counts }
  }

  requests(): CoordinatorSnapshot["requests"] {
    return this.#requests.list().map(({ number, id, stage, isDoomed, waiters, since }) => {
      return { request: number, id, stage: stage.kind, isDoomed, waiters: waiters.length, since }
    })
  }

  begin(id: ActorId, wish: PlacementWish, now: MonotonicMs): Resolution<Stored> {
    const open = this.#requests.of(id)
    if (open !== undefined) {
      return this.#room.isFull ? this.#room.turnAway(now) : this.#room.join(open, wish, [], now)
    }
    const generation = this.#world.catalog.isHere(id)
    if (generation !== undefined) return this.#room.answer(local(generation, now))
    const step = this.#firstStep(id, wish, now)
    if (isLast(step)) return this.#room.answer(this.#answer(id, step, 0, now))
    if (this.#room.isFull) return this.#room.turnAway(now)
    const request = this.#requests.open(id, stageOf(step), now)
    return this.#room.join(request, wish, [this.#command(request, step)], now)
  }

  refuse(refusal: Refusal, now: MonotonicMs): Answer {
    return this.#room.answer(refused(refusal, now))
  }

  handle(answer: StepAnswer<Stored>, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    switch (answer.kind) {
      case "looked-up":
        return this.#lookedUp(answer.request, answer.found, now)
      case "acquired":
        return this.#acquired(answer, now)
      case "acquire-denied":
        return this.#acquireDenied(answer.request, answer.because, now)
      case "activation-ready":
        return this.#activationReady(answer.request, now)
      case "activation-failed":
        return this.#activationFailed(answer.request, answer.cause, now)
      case "released":
        return this.#released(answer.request, undefined, now)
      case "release-failed":
        return this.#released(answer.request, answer.detail, now)
    }
  }

  /** Nobody is to get anything. */
  doom(refusal: Refusal, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    return this.#requests.list().flatMap((request) => this.#doom(request, refusal, now))
  }

  /** Nothing is to be taken. Requests that only read go on, and find another node. */
  renounce(because: string, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const taking = this.#requests.list().filter(({ stage }) => stage.kind !== "looking-up")
    return taking.flatMap((request) => this.#doom(request, { reason: "not-ready", because }, now))
  }

  #doom(request: PlacementRequest, refusal: Refusal, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const { stage } = request
    if (stage.kind === "looking-up") this.#requests.close(request)
    if (stage.kind === "clearing") request.stage = { kind: "releasing", generation: stage.generation }
    request.isDoomed = true
    return this.#room.tell(request, refused(refusal, now))
  }

  #lookedUp(
    number: number,
    found: Whereabouts | LookUpFailure,
    now: MonotonicMs,
  ): readonly PlacementCommand<Stored>[] {
    const request = this.#requests.at(number, "looking-up")
    if (request === undefined) return []
    const { id, stage } = request
    if (found.kind === "failed") {
      this.#world.log.add({ kind: "look-up-failed", id, detail: found.detail }, now)
      return this.#end(request, denied("look-up", found.detail, now))
    }
    if (found.kind === "placed") this.#world.log.add({ ...found, kind: "cache-learned", id }, now)
    const known = newer(found, this.#world.cache.lookup(id))
    const knowledge = { known, isFromStore: true, wish: request, hitherto: stage.authority }
    return this.#goOn(request, nextStep(id, knowledge, this.#world), now)
  }

  #acquired(
    { request: number, generation, stored }: Extract<StepAnswer<Stored>, { kind: "acquired" }>,
    now: MonotonicMs,
  ): readonly PlacementCommand<Stored>[] {
    const request = this.#requests.at(number, "acquiring")
    if (request === undefined) return []
    const { id } = request
    if (request.isDoomed) return [this.#release(request, generation)]
    if (!this.#world.standing.hostsHere(id.type)) {
      const answer = denied("acquire", `this node does not host the type ${id.type} any more`, now)
      return [this.#release(request, generation), ...this.#room.tell(request, answer)]
    }
    setStage(request, { kind: "activating", generation })
    return [{ kind: "ensure-activation", request: number, id, generation, stored }]
  }

  #acquireDenied(number: number, because: Denial, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const request = this.#requests.at(number, "acquiring")
    if (request === undefined) return []
    const { id } = request
    const { authorities, log, standing } = this.#world
    this.#counts.denied += 1
    authorities.unclaim()
    log.add({ kind: "lock-denied", id, because }, now)
    if (request.isDoomed) return this.#startOver(request, now)
    if (because.kind !== "owned") {
      return this.#end(request, denied("acquire", `${because.kind}: ${because.detail}`, now))
    }
    const { node, generation } = because
    if (node.equals(standing.self)) {
      return this.#end(request, denied("acquire", "the store has it on this node, where it is not", now))
    }
    log.add({ kind: "cache-learned", id, node, generation }, now)
    // Also where the topology does not have the node: the store has just seen its record.
    return this.#goOn(request, { kind: "found", placed: { kind: "placed", node, generation } }, now)
  }

  #activationReady(number: number, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const request = this.#requests.at(number, "activating")
    if (request === undefined) return []
    const { id, stage, waiters } = request
    const { generation } = stage
    const { log, standing } = this.#world
    this.#counts.activated += 1
    log.add({ kind: "activated", id, generation }, now)
    if (request.isDoomed) return [this.#release(request, generation)]
    log.add(
      { kind: "resolved", id, node: standing.self, generation, by: "claim", waiters: waiters.length },
      now,
    )
    return this.#end(request, local(generation, now))
  }

  #activationFailed(number: number, cause: unknown, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const request = this.#requests.at(number, "activating")
    if (request === undefined) return []
    const { id, stage, isDoomed } = request
    const { generation } = stage
    this.#counts.failed += 1
    this.#world.log.add({ kind: "activation-failed", id, generation, cause }, now)
    const release = this.#release(request, generation)
    const answer = denied("activate", "the activation failed", now, { cause })
    return isDoomed ? [release] : [release, ...this.#room.tell(request, answer)]
  }

  #released(
    number: number,
    problem: string | undefined,
    now: MonotonicMs,
  ): readonly PlacementCommand<Stored>[] {
    const request = this.#requests.at(number, "releasing", "clearing")
    if (request === undefined) return []
    const { id, stage } = request
    const { generation } = stage
    const { log } = this.#world
    if (problem === undefined) log.add({ kind: "released", id, generation }, now)
    else log.add({ kind: "release-failed", id, generation, detail: problem }, now)
    if (stage.kind === "releasing") return this.#startOver(request, now)
    if (problem !== undefined) return this.#end(request, denied("release", problem, now))
    // It was deleted at a revision above this one, so nothing that is known of it later is taken for older.
    const known = { kind: "absent", revision: generation } as const
    return this.#goOn(request, nextStep(id, { known, isFromStore: true, wish: request }, this.#world), now)
  }

  #release(request: PlacementRequest, generation: Revision): PlacementCommand<Stored> {
    this.#world.authorities.unclaim()
    setStage(request, { kind: "releasing", generation })
    return { kind: "release", request: request.number, id: request.id, generation }
  }

  /** For those who came when the request was already lost. */
  #startOver(request: PlacementRequest, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    this.#requests.close(request)
    if (request.waiters.length === 0) return []
    const { id } = request
    const step = this.#firstStep(id, request, now)
    if (isLast(step)) return this.#goOn(request, step, now)
    const again = this.#requests.open(id, stageOf(step), now)
    again.takeOver(request)
    return [this.#command(again, step)]
  }

  #firstStep(id: ActorId, wish: PlacementWish, now: MonotonicMs): Step {
    const known = this.#world.cache.lookup(id)
    const step = nextStep(id, { known, isFromStore: false, wish }, this.#world)
    const isStale =
      known?.kind === "placed" && step.kind !== "found" && !known.node.equals(this.#world.standing.self)
    if (isStale) this.#world.log.add({ ...known, kind: "cache-stale", id }, now)
    return step
  }

  #goOn(request: PlacementRequest, step: Step, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    if (isLast(step)) return this.#end(request, this.#answer(request.id, step, request.waiters.length, now))
    setStage(request, stageOf(step))
    return [this.#command(request, step)]
  }

  #answer(id: ActorId, step: LastStep, waiters: number, now: MonotonicMs): Answer {
    const { authorities, log } = this.#world
    switch (step.kind) {
      case "refuse":
        return refused(step.refusal, now)
      case "found": {
        const { node, generation } = step.placed
        if (waiters > 0) log.add({ kind: "resolved", id, node, generation, by: "store", waiters }, now)
        return remote(node, generation, now)
      }
      case "send": {
        const { candidate, since, isNew } = step
        const { node } = candidate
        if (isNew) {
          authorities.sendTo(id, candidate, since)
          log.add({ kind: "resolved", id, node, generation: undefined, by: "strategy", waiters }, now)
        }
        return remote(node, undefined, now)
      }
    }
  }

  #command({ number: request, id }: PlacementRequest, step: LongStep): PlacementCommand<Stored> {
    switch (step.kind) {
      case "look-up":
        return { kind: "look-up", request, id }
      case "acquire":
        this.#world.authorities.claim(id, this.#world.standing.hosts(id.type))
        return { kind: "try-acquire", request, id, placed: step.placed }
      case "clear":
        return { kind: "release", request, id, generation: step.placed.generation }
    }
  }

  #end(request: PlacementRequest, answer: Answer): readonly PlacementCommand<Stored>[] {
    this.#requests.close(request)
    return this.#room.tell(request, answer)
  }
}

function isLast(step: Step): step is LastStep {
  return step.kind === "found" || step.kind === "send" || step.kind === "refuse"
}

function stageOf(step: LongStep): Stage {
  switch (step.kind) {
    case "look-up":
      return { kind: "looking-up", authority: step.authority }
    case "acquire":
      return { kind: "acquiring" }
    case "clear":
      return { kind: "clearing", generation: step.placed.generation }
  }
}

/** Apart from the rest, where the type of a request says which stage it is at. */
function setStage(request: PlacementRequest, stage: Stage): void {
  request.stage = stage
}

export interface RequestWorld {
  readonly standing: Standing
  readonly authorities: Authorities
  readonly log: PlacementLog
  readonly catalog: CatalogView
  readonly cache: PlacementCacheView
  readonly mostWaiters: number
}

import type { ActorId } from "../address/actor-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import { revisionOf, type Whereabouts } from "../registry/placement-cache.js"
import type { Denial } from "../registry/registration.js"
import { Authorities } from "./authorities.js"
import { ClusterRole } from "./cluster-role.js"
import { type PlacementEvent, PlacementLog } from "./placement-log.js"
import {
  type Answer,
  type CoordinatorEvent,
  type CoordinatorOptions,
  type CoordinatorSnapshot,
  type CoordinatorState,
  denied,
  type LookUpFailure,
  local,
  type PlacementCommand,
  type PlacementOptions,
  type Refusal,
  type Resolution,
  type Role,
  refused,
  remote,
} from "./placement-protocol.js"
import { type PlacementRequest, PlacementRequests } from "./placement-requests.js"
import { isLast, type LastStep, type LongStep, nextStep, type Step, stageOf } from "./placement-step.js"
import { rendezvous } from "./rendezvous.js"

/**
 * Decides where an actor is or should be.
 *
 * An actor that is placed stays where it is, whatever a strategy would choose: the coordinator looks into the
 * catalog, then into the cache, then into the store. Only if the actor has no live placement does a strategy
 * name the authority, which is the node that should claim it. That is only a preference: the claim, a
 * conditional commit to the store, guarantees that at most one activation acts.
 *
 *     looking-up --> answered: another node
 *         |
 *         v
 *     acquiring --> activating --> answered: here
 *         |             |
 *         |             +--> releasing   (failed or cancelled; the waiters are refused)
 *         +--> answered: another node, which owns it
 *
 * A request accesses the store once. If this node is the authority, the claim also finds an existing owner,
 * so no read precedes it. If another node is the authority, the placement is read first, unless the cache
 * knows that there is none. Sending the message to that node without reading would only move the read there,
 * and would add a hop for every actor that runs on a third node.
 *
 * All callers that resolve an id while it is being placed share one request and its answer. If a step fails,
 * the coordinator releases the placement that was acquired and refuses all waiters with the reason. If the
 * release fails too, a placement that names this node remains; the next resolve finds it and claims the actor
 * again.
 *
 * A claim that reads a state of a later version than this node knows is released, and its waiters are
 * answered with a node that knows it: none of them has run, so their order is kept.
 *
 * When the node stops, is suspended or becomes a client, requests are cancelled: their waiters are refused at
 * once. The step in flight is not aborted, because its progress is unknown; the placement that it acquires is
 * released. A resolve that arrives in the meantime waits for the release, after which the request starts
 * over.
 */
export class PlacementCoordinator {
  readonly #options: CoordinatorOptions
  readonly #role: ClusterRole
  readonly #authorities: Authorities
  readonly #log: PlacementLog
  readonly #requests: PlacementRequests
  readonly #counts = { activated: 0, denied: 0, failed: 0, passivated: 0 }

  constructor(options: CoordinatorOptions) {
    const { self, random, strategyOf = () => rendezvous, mostNamed = 10_000 } = options
    this.#options = options
    this.#log = new PlacementLog(options.mostEvents ?? 1_024, options.isObserved ?? (() => true))
    this.#role = new ClusterRole(self, this.#log)
    this.#authorities = new Authorities({ self, random, strategyOf, limit: mostNamed })
    this.#requests = new PlacementRequests(options.mostWaiters ?? 100_000)
  }

  get state(): CoordinatorState {
    return this.#role.state
  }

  /** Returns where the actor is, or starts or joins the request that finds it. */
  resolve(id: ActorId, now: MonotonicMs, options: PlacementOptions = NO_OPTIONS): Resolution {
    const requests = this.#requests
    const refusal = this.#refusalOf(id)
    if (refusal !== undefined) return requests.answer(refused(refusal, now))
    const inFlight = requests.get(id)
    if (inFlight !== undefined) {
      return requests.isFull ? requests.refuseWaiter(now) : requests.join(inFlight, options, NONE, now)
    }
    const generation = this.#options.generationHere(id)
    if (generation !== undefined) return requests.answer(local(generation, now))
    const step = this.#firstStep(id, options, now)
    if (isLast(step)) return requests.answer(this.#answerOf(id, step, 0, now))
    if (requests.isFull) return requests.refuseWaiter(now)
    const request = requests.open(id, stageOf(step), now)
    return requests.join(request, options, [this.#commandOf(request, step)], now)
  }

  handle(event: CoordinatorEvent, now: MonotonicMs): readonly PlacementCommand[] {
    switch (event.kind) {
      case "start":
        return this.#start(event.as, now)
      case "suspend":
        return this.#suspend(event.because, now)
      case "stop":
        return this.#stop(now)
      case "topology-changed":
        if (this.#role.update(event.topology, now)) {
          this.#authorities.keepOnly((node) => this.#role.hasMember(node))
        }
        return NONE
      case "member-left":
        this.#role.removeMember(event.node, now)
        return event.node.equals(this.#role.self) ? this.#suspend("this node's record is gone", now) : NONE
      case "passivated":
        this.#counts.passivated += 1
        this.#log.add(event, now)
        return NONE
      case "looked-up":
        return this.#lookedUp(event.request, event.found, now)
      case "acquired":
        return this.#acquired(event, now)
      case "acquire-denied":
        return this.#acquireDenied(event.request, event.because, now)
      case "activation-ready":
        return this.#activationReady(event.request, now)
      case "activation-failed":
        return this.#activationFailed(event.request, event.cause, now)
      case "released":
        return this.#released(event.request, undefined, now)
      case "release-failed":
        return this.#released(event.request, event.detail, now)
    }
  }

  /** Returns the events since the last call, in order. */
  drainEvents(now: MonotonicMs): readonly PlacementEvent[] {
    return this.#log.drain(now)
  }

  snapshot(): CoordinatorSnapshot {
    return {
      state: this.state,
      because: this.#role.notReadyBecause,
      topology: this.#role.topologyVersion,
      requests: this.#requests.list().map(({ number, id, stage, isCancelled, waiters, since }) => {
        return { request: number, id, stage: stage.kind, isCancelled, waiters: waiters.length, since }
      }),
      authorities: this.#authorities.list(),
      counts: { ...this.#requests.counts, ...this.#counts },
    }
  }

  #refusalOf(id: ActorId): Refusal | undefined {
    const because = this.#role.notReadyBecause
    if (because !== undefined) return { reason: "not-ready", because }
    const { namespace } = this.#options
    if (id.namespace === namespace) return undefined
    return { reason: "invalid-key", because: `${id} is not of the namespace ${namespace}` }
  }

  #start(as: Role, now: MonotonicMs): readonly PlacementCommand[] {
    const isDemoted = as === "client" && this.#role.isMember
    this.#role.start(as, now)
    if (!isDemoted) return NONE
    // Requests that only read continue: they will find another node.
    const claims = this.#requests.list().filter(({ stage }) => stage.kind !== "looking-up")
    return this.#cancel(claims, "this node became a client", now)
  }

  #suspend(because: string, now: MonotonicMs): readonly PlacementCommand[] {
    this.#role.suspend(because, now)
    return this.#cancel(this.#requests.list(), because, now)
  }

  #stop(now: MonotonicMs): readonly PlacementCommand[] {
    const because = "the coordinator was stopped"
    this.#role.stop(because, now)
    return this.#cancel(this.#requests.list(), because, now)
  }

  #cancel(
    requests: readonly PlacementRequest[],
    because: string,
    now: MonotonicMs,
  ): readonly PlacementCommand[] {
    const answer = refused({ reason: "not-ready", because }, now)
    return requests.flatMap((request) => {
      const { stage } = request
      if (stage.kind === "looking-up") this.#requests.close(request)
      if (stage.kind === "clearing") request.enter({ kind: "releasing", generation: stage.generation })
      request.isCancelled = true
      return this.#requests.settle(request, answer)
    })
  }

  #lookedUp(
    number: number,
    found: Whereabouts | LookUpFailure,
    now: MonotonicMs,
  ): readonly PlacementCommand[] {
    const request = this.#requests.at(number, "looking-up")
    if (request === undefined) return NONE
    const { id, stage } = request
    if (found.kind === "failed") {
      this.#log.add({ kind: "look-up-failed", id, detail: found.detail }, now)
      return this.#requests.end(request, denied("look-up", found.detail, now))
    }
    if (found.kind === "placed") this.#log.add({ ...found, kind: "cache-learned", id }, now)
    // Since the read, the cache may have learned of a later change.
    const cached = this.#options.cached(id)
    const known = cached !== undefined && revisionOf(cached) > revisionOf(found) ? cached : found
    const knowledge = { known, isFromStore: true, options: request, previousAuthority: stage.authority }
    return this.#continue(request, nextStep(id, knowledge, this.#role, this.#authorities), now)
  }

  #acquired(event: Acquired, now: MonotonicMs): readonly PlacementCommand[] {
    const { generation, stateVersion } = event
    const request = this.#requests.at(event.request, "acquiring")
    if (request === undefined) return NONE
    const { id } = request
    if (request.isCancelled) return [this.#release(request, generation)]
    if (!this.#role.isHost(id.type)) {
      const answer = denied("acquire", `this node no longer hosts the type ${id.type}`, now)
      return [this.#release(request, generation), ...this.#requests.settle(request, answer)]
    }
    if (stateVersion !== undefined) {
      this.#log.add({ kind: "later-version", id, generation, stateVersion }, now)
      const release = this.#release(request, generation)
      request.stateVersion = stateVersion
      request.enter({ kind: "clearing", generation })
      return [release]
    }
    request.enter({ kind: "activating", generation })
    return [{ kind: "ensure-activation", request: event.request, id, generation }]
  }

  #acquireDenied(number: number, because: Denial, now: MonotonicMs): readonly PlacementCommand[] {
    const request = this.#requests.at(number, "acquiring")
    if (request === undefined) return NONE
    const { id } = request
    this.#counts.denied += 1
    this.#authorities.unclaim()
    this.#log.add({ kind: "lock-denied", id, because }, now)
    if (request.isCancelled) return this.#startOver(request, now)
    if (because.kind !== "owned") {
      return this.#requests.end(request, denied("acquire", `${because.kind}: ${because.detail}`, now))
    }
    const { node, generation } = because
    if (node.equals(this.#role.self)) {
      return this.#requests.end(
        request,
        denied("acquire", "the store names this node as the owner, but the actor does not run here", now),
      )
    }
    this.#log.add({ kind: "cache-learned", id, node, generation }, now)
    // Even if the topology lacks the node: the claim has just found the node's record in the store.
    return this.#continue(request, { kind: "found", placed: { kind: "placed", node, generation } }, now)
  }

  #activationReady(number: number, now: MonotonicMs): readonly PlacementCommand[] {
    const request = this.#requests.at(number, "activating")
    if (request === undefined) return NONE
    const { id, stage, waiters } = request
    const { generation } = stage
    const { isCancelled } = request
    this.#counts.activated += 1
    if (this.#log.isObserved) {
      const { self: node } = this.#role
      this.#log.add({ kind: "activated", id, generation }, now)
      if (!isCancelled)
        this.#log.add({ kind: "resolved", id, node, generation, by: "claim", waiters: waiters.length }, now)
    }
    if (isCancelled) return [this.#release(request, generation)]
    return this.#requests.end(request, local(generation, now))
  }

  #activationFailed(number: number, cause: unknown, now: MonotonicMs): readonly PlacementCommand[] {
    const request = this.#requests.at(number, "activating")
    if (request === undefined) return NONE
    const { id, stage, isCancelled } = request
    const { generation } = stage
    this.#counts.failed += 1
    this.#log.add({ kind: "activation-failed", id, generation, cause }, now)
    const release = this.#release(request, generation)
    // Waiters that joined after the cancellation wait for the release.
    if (isCancelled) return [release]
    return [
      release,
      ...this.#requests.settle(request, denied("activate", "the activation failed", now, { cause })),
    ]
  }

  #released(number: number, problem: string | undefined, now: MonotonicMs): readonly PlacementCommand[] {
    const request = this.#requests.at(number, "releasing", "clearing")
    if (request === undefined) return NONE
    const { id, stage } = request
    const { generation } = stage
    if (problem === undefined) this.#log.add({ kind: "released", id, generation }, now)
    else this.#log.add({ kind: "release-failed", id, generation, detail: problem }, now)
    if (stage.kind === "releasing") return this.#startOver(request, now)
    if (problem !== undefined) return this.#requests.end(request, denied("release", problem, now))
    // The cache knows the revision of the delete, or even a later placement.
    const cached = this.#options.cached(id)
    const isLater = cached !== undefined && revisionOf(cached) > generation
    const known = isLater ? cached : ({ kind: "absent", revision: generation } as const)
    const knowledge = { known, isFromStore: true, options: request }
    return this.#continue(request, nextStep(id, knowledge, this.#role, this.#authorities), now)
  }

  #firstStep(id: ActorId, options: PlacementOptions, now: MonotonicMs): Step {
    const known = this.#options.cached(id)
    const step = nextStep(id, { known, isFromStore: false, options }, this.#role, this.#authorities)
    const isStale = known?.kind === "placed" && step.kind !== "found" && !known.node.equals(this.#role.self)
    if (isStale) this.#log.add({ ...known, kind: "cache-stale", id }, now)
    return step
  }

  #continue(request: PlacementRequest, step: Step, now: MonotonicMs): readonly PlacementCommand[] {
    if (isLast(step)) {
      return this.#requests.end(request, this.#answerOf(request.id, step, request.waiters.length, now))
    }
    request.enter(stageOf(step))
    return [this.#commandOf(request, step)]
  }

  /** Starts the request over for the waiters that joined after it was cancelled or failed. */
  #startOver(request: PlacementRequest, now: MonotonicMs): readonly PlacementCommand[] {
    this.#requests.close(request)
    if (request.waiters.length === 0) return NONE
    const { id, here, excluded } = request
    const step = this.#firstStep(id, request, now)
    if (isLast(step)) return this.#continue(request, step, now)
    const again = this.#requests.open(id, stageOf(step), now)
    again.add(request.takeWaiters(), { here, excluded })
    return [this.#commandOf(again, step)]
  }

  #answerOf(id: ActorId, step: LastStep, waiters: number, now: MonotonicMs): Answer {
    switch (step.kind) {
      case "refuse":
        return refused(step.refusal, now)
      case "found": {
        const { node, generation } = step.placed
        if (waiters > 0) this.#log.add({ kind: "resolved", id, node, generation, by: "store", waiters }, now)
        return remote(node, generation, now)
      }
      case "send": {
        const { candidate, since, isNew } = step
        const { node } = candidate
        if (isNew) {
          this.#authorities.sendTo(id, candidate, since)
          this.#log.add({ kind: "resolved", id, node, generation: undefined, by: "strategy", waiters }, now)
        }
        return remote(node, undefined, now)
      }
    }
  }

  #commandOf({ number: request, id }: PlacementRequest, step: LongStep): PlacementCommand {
    switch (step.kind) {
      case "look-up":
        return { kind: "look-up", request, id }
      case "acquire":
        this.#authorities.claim(id, this.#role.hosts(id.type))
        return { kind: "try-acquire", request, id }
      case "clear":
        return { kind: "release", request, id, generation: step.generation }
    }
  }

  #release(request: PlacementRequest, generation: Revision): PlacementCommand {
    this.#authorities.unclaim()
    request.enter({ kind: "releasing", generation })
    return { kind: "release", request: request.number, id: request.id, generation }
  }
}

type Acquired = CoordinatorEvent & { readonly kind: "acquired" }

const NONE: readonly PlacementCommand[] = []
const NO_OPTIONS: PlacementOptions = {}

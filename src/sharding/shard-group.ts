import type { ActorId } from "../address/actor-id.js"
import type { Revision } from "../ports/store.js"
import type { ClaimOutcome } from "../registry/claim.js"
import { ClaimDriver } from "../registry/claim-driver.js"
import { type ShardGuess, shardClaims } from "../registry/commits.js"
import type { Incarnation } from "../registry/incarnation.js"
import type { Placed, Whereabouts } from "../registry/placement-cache.js"
import {
  type Denial,
  denied,
  FENCED,
  LEAVING,
  type Registration,
  UNAVAILABLE,
} from "../registry/registration.js"
import { GroupPlan } from "./group-plan.js"
import { HeldShard, type Home } from "./held-shard.js"
import type { ShardPlan } from "./planner.js"
import { adoptShard } from "./shard-adoption.js"
import { claimTogether } from "./shard-claim.js"
import { ShardHome, type ShardHomeCommand, type ShardHomeEvent } from "./shard-home.js"
import type { ShardHost } from "./shard-host.js"
import { shardKey } from "./shard-keys.js"
import { ShardMap } from "./shard-map.js"
import { ShardMover } from "./shard-mover.js"
import { ShardTenure } from "./shard-tenure.js"

/**
 * The shards of one group: which of them this node has, and how it gets them. It claims what nobody has and
 * the plan gives to this node, many in one commit; adopts what was moved here; and moves what the plan gives
 * to others (`shard-mover.ts`).
 */
export class ShardGroup {
  readonly name: string
  readonly map: ShardMap
  readonly #host: ShardHost
  readonly #homes: (Home | undefined)[]
  readonly #taking = new Map<number, Promise<Denial | undefined>>()
  /** The highest spent generation of each shard, as in `registry/adoption.ts`. */
  readonly #spent: Revision[]
  readonly #mover: ShardMover
  readonly #plan: GroupPlan

  constructor(name: string, count: number, types: readonly string[], host: ShardHost) {
    this.name = name
    this.map = new ShardMap(count)
    this.#plan = new GroupPlan(this.map, types, host)
    this.#host = host
    this.#homes = Array.from({ length: count }, () => undefined)
    this.#spent = Array.from({ length: count }, () => 0)
    this.#mover = new ShardMover(this, host)
  }

  /** The number of shards that this node has. */
  get held(): number {
    return this.#homes.filter((home) => home !== undefined).length
  }

  /** The numbers of the shards that this node has. */
  get heldShards(): readonly number[] {
    return this.#homes.flatMap((home, shard) => (home === undefined ? [] : [shard]))
  }

  home(shard: number): Home | undefined {
    return this.#homes[shard]
  }

  *homes(): Generator<Home> {
    for (const home of this.#homes) if (home !== undefined) yield home
  }

  /** Nodes of a later version have added types to the group. */
  learnTypes(types: readonly string[]): void {
    this.#plan.learnTypes(types)
  }

  /** A state in the shard is of a later version than this node knows. */
  handOver(shard: number, type: string, stateVersion: number): void {
    this.#plan.handOver(shard, { type, stateVersion })
  }

  /** The node that should have each shard. */
  plan(): ShardPlan {
    return this.#plan.nodes
  }

  /** Claims and adopts what this node should have, and moves what others should have. */
  follow(plan: ShardPlan, mayMove: boolean): void {
    const { node } = this.#host.registry
    for (let shard = 0; shard < plan.length; shard += 1) {
      if (this.#isFree(shard) && this.#plan.liveHome(shard)?.equals(node) === true) void this.#take(shard)
    }
    this.#claimFree(plan)
    if (mayMove) this.#mover.follow(plan)
  }

  /** Moves all shards to other nodes, as this one leaves. Resolves when no more of them can be moved. */
  drain(): Promise<void> {
    return this.#mover.drain()
  }

  /** Gives up what nobody can have, after its actors have ended. */
  release(): Promise<void> {
    return this.#mover.release()
  }

  /** Moves what could not be moved before, as something has changed since. */
  drainOn(): void {
    this.#mover.drainOn()
  }

  /** Whether shards are being claimed, adopted or passed on. */
  get isTaking(): boolean {
    return this.#taking.size > 0
  }

  /** Passes on what the store gives to this node, which leaves and does not run it; `all`: or releases it. */
  passOn(all: boolean): void {
    const { incarnation } = this.#host.registry
    if (incarnation === undefined) return
    this.plan().forEach((planned, shard) => {
      const where = this.map.at(shard)
      if (where?.kind !== "placed" || !where.node.equals(incarnation.node)) return
      if ((planned === undefined && !all) || !this.#isFree(shard)) return
      const { generation } = where
      this.#spend(shard, generation)
      const key = shardKey(this.name, shard)
      const passed = this.#mover.passOn({ number: shard, key, incarnation, generation })
      void passed.then(() => this.#taking.delete(shard))
      this.#taking.set(shard, passed)
    })
  }

  register(id: ActorId, shard: number): Registration | Promise<Registration> {
    const held = this.#homes[shard]?.held
    if (held?.mayStart(id.name) !== "now" || held.incarnation.isFencedOff) return this.#enter(id, shard)
    return this.#acquired(id, held)
  }

  /** Lets the actor start although its shard is closing, if a turn that runs there waits for it. */
  awaited(id: ActorId, shard: number, chain: readonly string[]): void {
    const held = this.#homes[shard]?.held
    if (held === undefined || held.isOpen || held.needs(id.name)) return
    if (held.isAwaiting(chain)) held.need(id.name)
  }

  /** Handles the end of this node's incarnation. */
  fenced(): void {
    for (const home of [...this.homes()]) this.handle(home, { kind: "lost" })
    this.#mover.stop()
  }

  handle(home: Home, event: ShardHomeEvent): void {
    for (const command of home.decision.handle(event)) this.#do(home, command)
  }

  #acquired(id: ActorId, held: HeldShard): Registration {
    const tenure = new ShardTenure(id, held)
    held.add(tenure)
    return { kind: "acquired", tenure }
  }

  async #enter(id: ActorId, shard: number): Promise<Registration> {
    while (true) {
      const { incarnation, life, view, node } = this.#host.registry
      if (incarnation === undefined || !life.hasLease) return FENCED
      const home = this.#homes[shard]
      if (home === undefined) {
        const where = this.map.at(shard)
        // If that is out of date, the node that is called answers what the store says.
        if (where?.kind === "placed" && !where.node.equals(node) && view.has(where.node))
          return denied({ ...where, kind: "owned" })
        // A call that comes before the plan is followed does not claim its shard apart from the others.
        const isNobodys = this.map.epoch !== "" && this.#plan.liveHome(shard) === undefined
        if (isNobodys && this.#isFree(shard)) this.#claimFree(this.plan())
        const denial = await this.#take(shard)
        if (denial !== undefined) return denied(denial)
        continue
      }
      const { held } = home
      const start = held.mayStart(id.name)
      if (start === "now") return this.#acquired(id, held)
      // A node that leaves may claim nothing, and moves the shard.
      if (start === "unsettled" && !incarnation.isLeaving) this.handle(home, { kind: "renew" })
      await held.decided(id.name)
    }
  }

  #do(home: Home, command: ShardHomeCommand): void {
    const { held, number } = home
    switch (command.kind) {
      case "close":
        held.close()
        return this.#mover.close(home)
      case "reopen":
        return held.reopen()
      case "shut":
        return held.shut("its shard has moved, or was lost")
      case "transfer":
        return this.#mover.transfer(home, command.target)
      case "hold-saves":
        void held.holdSaves().then(() => this.handle(home, { kind: "saves-decided" }))
        return
      case "claim":
        void this.#claimAnew(home, command.generation)
        return
      case "claim-later":
        this.#host.clock.setTimer(RETRY_MS, () => void this.#claimAnew(home, command.generation))
        return
      case "renewed":
        this.#learn(number, this.#placedHere(held.incarnation, command.generation))
        this.#spent[number] = command.generation
        return held.renewed(command.generation)
      case "leave":
        if (this.#homes[number] === home) this.#homes[number] = undefined
        held.leave()
        return this.#host.changed()
    }
  }

  /** Claims a shard of this node again, for a new generation. */
  async #claimAnew(home: Home, generation: Revision): Promise<void> {
    const { held, number } = home
    const { incarnation } = held
    if (home.decision.state !== "claiming") return
    if (incarnation.isFencedOff || incarnation.isLeaving) return this.handle(home, { kind: "lost" })
    const outcome = await this.#claim(
      number,
      { kind: "placed", node: incarnation.node, generation },
      incarnation,
    )
    if (outcome.kind === "claimed") return this.handle(home, outcome)
    if (outcome.kind === "unavailable") return this.handle(home, { kind: "not-claimed" })
    this.#denialOf(number, outcome, incarnation)
    this.handle(home, { kind: "lost" })
  }

  /** Gets the shard for this node if it may have it; otherwise resolves with the reason. */
  #take(shard: number): Promise<Denial | undefined> {
    const known = this.#taking.get(shard)
    if (known !== undefined) return known
    const taking = this.#takeNow(shard).finally(() => this.#taking.delete(shard))
    this.#taking.set(shard, taking)
    return taking
  }

  async #takeNow(shard: number): Promise<Denial | undefined> {
    const { incarnation, life } = this.#host.registry
    if (incarnation === undefined || !life.hasLease) return FENCED.because
    const where = this.map.at(shard)
    let guess = where?.kind === "placed" ? where : undefined
    if (guess?.node.equals(incarnation.node) === true) {
      const adopted = await this.#adopt(shard, incarnation)
      if (adopted.kind !== "claim") return adopted.kind === "adopted" ? undefined : adopted.because
      guess = adopted.placed
    }
    if (life.phase === "leaving") return LEAVING.because
    const outcome = await this.#claim(shard, guess, incarnation)
    if (outcome.kind !== "claimed") return this.#denialOf(shard, outcome, incarnation)
    return this.#open(shard, outcome.generation, incarnation) ? undefined : FENCED.because
  }

  /** Opens a shard that may have been moved to this node, if it was. */
  async #adopt(shard: number, incarnation: Incarnation): Promise<Adopted> {
    const { store, registry } = this.#host
    const spent = this.#spent[shard] as Revision
    const outcome = await adoptShard(shardKey(this.name, shard), spent, { incarnation, store })
    switch (outcome.kind) {
      case "adopted":
        if (this.#open(shard, outcome.generation, incarnation)) return { kind: "adopted" }
        return { kind: "denied", because: FENCED.because }
      case "claim":
        return { kind: "claim", placed: this.#placedHere(incarnation, outcome.generation) }
      case "elsewhere": {
        const placed = outcome.placed && this.#host.placed(outcome.placed)
        if (placed !== undefined) this.#learn(shard, placed)
        if (placed === undefined || !registry.view.has(placed.node)) return { kind: "claim", placed }
        return { kind: "denied", because: { ...placed, kind: "owned" } }
      }
      case "unavailable":
        return { kind: "denied", because: incarnation.isFencedOff ? FENCED.because : UNAVAILABLE.because }
    }
  }

  async #claim(shard: number, guess: Placed | undefined, incarnation: Incarnation): Promise<ClaimOutcome> {
    const driver = new ClaimDriver({ key: shardKey(this.name, shard) }, incarnation, this.#host.store)
    const outcome = await driver.claim(guess)
    // A claim may find this node's own record on its way, and be sent on that.
    this.#spend(shard, driver.spent)
    return outcome
  }

  #denialOf(
    shard: number,
    outcome: Exclude<ClaimOutcome, { kind: "claimed" }>,
    incarnation: Incarnation,
  ): Denial {
    switch (outcome.kind) {
      case "elsewhere": {
        const placed = this.#host.placed(outcome.placed)
        if (placed === undefined) return UNAVAILABLE.because
        this.#learn(shard, placed)
        return { ...placed, kind: "owned" }
      }
      case "not-a-member":
        incarnation.doubt()
        return incarnation.isLeaving ? LEAVING.because : FENCED.because
      case "unavailable":
        return incarnation.isFencedOff ? FENCED.because : UNAVAILABLE.because
    }
  }

  #isFree(shard: number): boolean {
    return this.#homes[shard] === undefined && !this.#taking.has(shard)
  }

  /** Claims what nobody has and the plan gives to this node. */
  #claimFree(plan: ShardPlan): void {
    const { text } = this.#host.registry.node
    const free = plan.flatMap((planned, shard) =>
      planned === text && this.#isFree(shard) && this.#plan.liveHome(shard) === undefined ? [shard] : [],
    )
    if (free.length > 0) this.#claimTogether(free)
  }

  /** Claims shards that nobody has, as many in one commit as it can have. */
  #claimTogether(shards: readonly number[]): void {
    const { incarnation } = this.#host.registry
    // Past its deadline the node claims nothing until its lease is renewed; the next plan tries again.
    if (incarnation?.mayClaim() !== true) return
    const numbers = new Map(shards.map((shard) => [shardKey(this.name, shard), shard]))
    for (const claim of shardClaims(shards.map((shard) => this.#guess(shard)))) {
      const claimed = this.#commit(claim, numbers, incarnation).then((isNews) => {
        for (const { key } of claim) this.#taking.delete(numbers.get(key) as number)
        // Otherwise the next plan would make the same claim at once, and fail at once.
        if (isNews) this.#host.changed()
        return undefined
      })
      // Whoever waits for one of them looks again.
      for (const { key } of claim) this.#taking.set(numbers.get(key) as number, claimed)
    }
  }

  #guess(shard: number): ShardGuess {
    const where = this.map.at(shard)
    const key = shardKey(this.name, shard)
    if (where?.kind !== "placed") return { key, guess: { kind: "nothing" } }
    return { key, guess: { kind: "orphan", node: where.node.toString(), generation: where.generation } }
  }

  /** Returns whether anything was learned of the shards. */
  async #commit(
    claim: readonly ShardGuess[],
    numbers: ReadonlyMap<string, number>,
    incarnation: Incarnation,
  ): Promise<boolean> {
    let isNews = false
    const events = await claimTogether(claim, incarnation, this.#host.store)
    events?.forEach((event, at) => {
      const shard = numbers.get((claim[at] as ShardGuess).key) as number
      if (event.kind === "committed") isNews = this.#open(shard, event.generation, incarnation)
      else if (event.kind === "refused" && !event.ownRecord) incarnation.doubt()
      else if (event.kind === "refused" && event.placed !== "as thought" && event.placed !== undefined) {
        const placed = this.#host.placed(event.placed)
        if (placed !== undefined && this.#learn(shard, placed)) isNews = true
      }
    })
    return isNews
  }

  #open(shard: number, generation: Revision, incarnation: Incarnation): boolean {
    if (incarnation.isFencedOff) return false
    const key = shardKey(this.name, shard)
    const held = new HeldShard({ number: shard, key }, { incarnation, generation }, this.#host)
    this.#homes[shard] = { number: shard, held, decision: new ShardHome(generation) }
    this.#spend(shard, generation)
    this.#learn(shard, this.#placedHere(incarnation, generation))
    return true
  }

  #spend(shard: number, generation: Revision): void {
    this.#spent[shard] = Math.max(this.#spent[shard] as Revision, generation)
  }

  #placedHere({ node }: Incarnation, generation: Revision): Placed {
    return { kind: "placed", node, generation }
  }

  #learn(shard: number, where: Whereabouts): boolean {
    return this.map.learn(this.#host.registry.incarnation?.epoch ?? "", shard, where)
  }
}

const RETRY_MS = 100

type Adopted =
  | { readonly kind: "adopted" }
  | { readonly kind: "denied"; readonly because: Denial }
  /** The record names this node at a spent generation, or nobody that is there. */
  | { readonly kind: "claim"; readonly placed: Placed | undefined }

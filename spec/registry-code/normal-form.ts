import { holderMs } from "../../src/registry/lease-terms.js"
import { TERMS } from "./setting.js"
import {
  type Answer,
  isMember,
  isRunning,
  letter,
  type Mutable,
  nodeOf,
  PLACEMENT,
  type Process,
  type Request,
  STATE,
  UNLIMITED,
  type World,
} from "./world.js"

/**
 * Brings a world into its normal form, which it shares with all worlds of the same future: revisions and the
 * numbers of activations and requests become ranks, times that have passed become equal, and sets are sorted.
 *
 * The revisions of one node's lease and record are ranked together, since one commit writes both. Those of
 * the placement, and those of the state, have ranks of their own: no condition compares them with others.
 */
export function normalise(world: World): void {
  for (const process of world.processes) settle(process)
  for (const request of world.requests) settleRequest(world, request)
  const { lateRenewals } = world.history
  const counted = Object.entries(lateRenewals).filter(([node]) => has(world, `leases/${node}`))
  world.history.lateRenewals = Object.fromEntries(counted.sort())
  if (world.left.joins === UNLIMITED) rankLives(world)
  const ranks = new Ranks()
  walk(world, (kind, value) => ranks.note(kind, value))
  walk(world, (kind, value) => ranks.of(kind, value))
  if (world.requests.length > 1) world.requests = inOrder(world.requests)
  if (world.words.length > 1) world.words = inOrder(world.words)
}

/**
 * Replaces the numbers of incarnations by their ranks among those that are still named anywhere. A process
 * that is no node has the number of its last named incarnation, and joins as the next.
 */
function rankLives(world: World): void {
  for (const process of world.processes) if (!isMember(process)) process.lives = 0
  const text = JSON.stringify(world)
  const named = world.processes.map(({ lives }) => new Set(lives === 0 ? [] : [lives]))
  for (const [, process, life] of text.matchAll(NODE_NAME)) named[indexOf(process)]?.add(Number(life))
  const lives = named.map((numbers) => [...numbers].sort((a, b) => a - b))
  const isRanked = lives.every((numbers) => numbers.every((life, index) => life === index + 1))
  if (!isRanked) {
    const rankOf = (process: string | undefined, life: number): number =>
      (lives[indexOf(process)]?.indexOf(life) ?? -1) + 1
    const ranked = text.replaceAll(
      NODE_NAME,
      (_, process, life) => `${process}${rankOf(process, Number(life))}`,
    )
    Object.assign(world, JSON.parse(ranked))
    for (const [at, process] of world.processes.entries()) process.lives = rankOf(letter(at), process.lives)
  }
  for (const [at, process] of world.processes.entries()) {
    if (!isMember(process)) process.lives = lives[at]?.length ?? 0
  }
}

const NODE_NAME = /\b([ab])([1-9]\d*)\b/g

function indexOf(process: string | undefined): number {
  return process === letter(0) ? 0 : 1
}

/** Advances the clocks of a process. */
export function age(
  process: Process,
  { mono, wall, watch }: { mono: number; wall: number; watch: number },
): void {
  const state = process.lease?.state
  if (state !== undefined && state.kind !== "fenced") {
    const instant = state.kind === "joining" ? state.sentAt : state.since
    instant.monotonicMs -= mono
    instant.wallMs -= wall
    if (state.kind !== "joining") {
      state.deadline -= mono
      state.renewAt -= mono
    }
  }
  for (const [, sight] of process.sights) {
    sight.endAt -= watch
    if (sight.askedAt !== undefined) sight.askedAt -= watch
  }
}

/** The time at which a renewal was sent is on the clocks of its sender. */
export function ageRequest(
  { sentAt, answer }: Request,
  { mono, wall }: { mono: number; wall: number },
): void {
  for (const instant of [sentAt, answer?.kind === "renewed" ? answer.sentAt : undefined]) {
    if (instant === undefined) continue
    instant.monotonicMs -= mono
    instant.wallMs -= wall
  }
}

/** Times beyond the last that matters, and values that are never read again, become equal. */
function settle(process: Process): void {
  const { lease, sights } = process
  if (lease !== undefined) process.lease = { state: settled(lease.state), requests: lease.requests }
  for (const [, sight] of sights) {
    sight.endAt = Math.max(sight.endAt, 0)
    if (sight.askedAt !== undefined && sight.askedAt <= -TERMS.ttlMs / 10) delete sight.askedAt
  }
  if (sights.length > 1) sights.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The time at which a renewal was sent does not matter once its sender has stopped. */
function settleRequest(world: World, request: Request): void {
  const { kind, by, sentAt, answer } = request
  if (kind !== "renew") return
  if (sentAt !== undefined) request.sentAt = past(sentAt)
  if (answer?.kind === "renewed") answer.sentAt = past(answer.sentAt)
  if (isRunning(world, by)) return
  request.number = 0
  delete request.sentAt
  delete request.announces
}

type LeaseState = NonNullable<Process["lease"]>["state"]

function settled(state: LeaseState): LeaseState {
  switch (state.kind) {
    case "joining":
      return { kind: "joining", request: state.request, sentAt: past(state.sentAt) }
    case "fenced":
      return { kind: "fenced", because: "" }
    default: {
      const { kind, lease, record, pending } = state
      const since = past(state.since)
      const deadline = since.monotonicMs + holderMs(TERMS)
      const renewAt = Math.max(state.renewAt, 0)
      return { kind, lease, record, since, deadline, renewAt, pending }
    }
  }
}

function past({ monotonicMs, wallMs }: { monotonicMs: number; wallMs: number }): {
  monotonicMs: number
  wallMs: number
} {
  const longest = holderMs(TERMS)
  return { monotonicMs: Math.max(monotonicMs, -longest), wallMs: Math.max(wallMs, -longest) }
}

/**
 * Kinds of numbers: `node a1` (revisions of lease and record), `requests a1`, `placement`, `state`, `life`.
 */
type Visit = (kind: string, value: number) => number

/** Visits all numbers and replaces them by the result. 0 means none everywhere. */
function walk(world: World, on: Visit): void {
  for (const stored of world.store) {
    stored.revision = on(kindOf(stored.key), stored.revision)
    if (stored.key === STATE) stored.value = walkWriteId(stored.value, on)
  }
  world.placedAt = on("placement", world.placedAt)
  for (const [at, process] of world.processes.entries()) walkProcess(process, nodeOf(at, process), on)
  for (const request of world.requests) walkRequest(request, on)
  for (const { hint } of world.words) hint.revision = on("placement", hint.revision)
  const cached = world.caller?.cache
  if (cached !== undefined) cached.revision = on("placement", cached.revision)
  const { history } = world
  history.generation = on("placement", history.generation)
  history.loaded = on("life", history.loaded)
  history.acked = on("state", history.acked)
  history.lives = on("life", history.lives)
}

function walkProcess(process: Process, node: string, on: Visit): void {
  const { lease, former, activation, sights, cache } = process
  const kind = `node ${node}`
  const requests = `requests ${node}`
  if (lease !== undefined) {
    const { state } = lease
    lease.requests = on(requests, lease.requests)
    if (state.kind === "joining") state.request = on(requests, state.request)
    if (state.kind === "held" || state.kind === "leaving") {
      state.lease = on(kind, state.lease)
      state.record = on(kind, state.record)
      if (state.pending !== undefined) state.pending.request = on(requests, state.pending.request)
    }
  }
  process.lastKnownLease = on(kind, process.lastKnownLease)
  if (former !== undefined) former.lease = on(`node ${former.node}`, former.lease)
  for (const [seen, sight] of sights) sight.revision = on(`node ${seen}`, sight.revision)
  if (cache !== undefined) cache.revision = on("placement", cache.revision)
  if (process.endedTurn !== undefined) process.endedTurn = on("placement", process.endedTurn)
  if (activation === undefined) return
  activation.generation = on("placement", activation.generation)
  activation.life = on("life", activation.life)
  activation.base = on("state", activation.base)
  const claim = activation.claim?.state
  if (claim?.kind === "taking" && claim.guess.kind !== "nothing") {
    claim.guess.generation = on("placement", claim.guess.generation)
  }
  if (claim?.kind === "judging") claim.placed.generation = on("placement", claim.placed.generation)
}

function walkRequest(request: Request, on: Visit): void {
  const { by, conditions, writes, guess, seen, answer } = request
  request.number = on(`requests ${by}`, request.number)
  for (const condition of conditions) {
    if (condition.kind === "at") condition.revision = on(kindOf(condition.key), condition.revision)
  }
  for (const write of writes) {
    if (write.key === STATE && write.value !== undefined) write.value = walkWriteId(write.value, on)
  }
  if (guess !== undefined && guess.kind !== "nothing") guess.generation = on("placement", guess.generation)
  if (request.life !== undefined) request.life = on("life", request.life)
  if (request.base !== undefined) request.base = on("state", request.base)
  if (request.generation !== undefined) request.generation = on("placement", request.generation)
  if (request.writeId !== undefined) request.writeId = walkWriteId(request.writeId, on)
  if (seen?.lease !== undefined) seen.lease = on(`node ${by}`, seen.lease)
  if (seen?.record !== undefined) seen.record = on(`node ${by}`, seen.record)
  if (answer !== undefined) walkAnswer(request, answer, on)
}

function walkAnswer({ kind, by }: Request, answer: Mutable<Answer>, on: Visit): void {
  if ("request" in answer) answer.request = on(`requests ${by}`, answer.request)
  switch (answer.kind) {
    case "joined":
      answer.revision = on(`node ${by}`, answer.revision)
      break
    case "renewed":
      answer.lease = on(`node ${by}`, answer.lease)
      break
    case "committed":
      if ("generation" in answer) {
        answer.generation = on("placement", answer.generation)
        const entry = answer.state?.entry
        if (entry !== undefined) entry.revision = on("state", entry.revision)
      } else answer.revision = on(kind === "save" ? "state" : "placement", answer.revision)
      break
    case "refused":
      if ("placed" in answer && typeof answer.placed === "object") {
        answer.placed.generation = on("placement", answer.placed.generation)
      }
  }
}

/** `a1.2.1`: the node, the generation, and the number of the save. */
function walkWriteId(text: string, on: Visit): string {
  const [node, generation, save] = text.split(".")
  return `${node}.${on("placement", Number(generation))}.${save}`
}

function kindOf(key: string): string {
  if (key === PLACEMENT) return "placement"
  return key === STATE ? "state" : `node ${key.slice(key.indexOf("/") + 1)}`
}

/** The values of each kind, and their ranks. */
class Ranks {
  readonly #values = new Map<string, number[]>()

  note(kind: string, value: number): number {
    if (value === 0) return value
    const values = this.#values.get(kind)
    if (values === undefined) this.#values.set(kind, [value])
    else if (!values.includes(value)) values.push(value)
    return value
  }

  of(kind: string, value: number): number {
    if (value === 0) return value
    let rank = 1
    for (const other of this.#values.get(kind) as number[]) if (other < value) rank += 1
    return rank
  }
}

function has({ store }: World, key: string): boolean {
  return store.some((entry) => entry.key === key)
}

function inOrder<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, text: JSON.stringify(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item)
}

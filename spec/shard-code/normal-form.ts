import { revisionAt } from "../registry-code/model-store.js"
import type { Mutable } from "../registry-code/world.js"
import { type Answer, type Node, nodeOf, type Request, SHARD, type World } from "./world.js"

/**
 * Brings a world into its normal form, which it shares with all worlds of the same future: revisions and the
 * numbers of activations and writes become ranks, and sets are sorted. The shard and each state have ranks of
 * their own: no condition compares them with others. Records have the same two revisions at all times.
 */
export function normalise(world: World): void {
  const shardAt = revisionAt(world, SHARD)
  for (const node of world.nodes) {
    // Generations below that of the store are never read again: a node may forget that they are spent.
    if (node.spent !== shardAt) node.spent = 0
  }
  const ranks = new Map<string, number[]>()
  walk(world, (kind, value) => {
    if (value === 0) return value
    const values = ranks.get(kind)
    if (values === undefined) ranks.set(kind, [value])
    else if (!values.includes(value)) values.push(value)
    return value
  })
  walk(world, (kind, value) =>
    value === 0 ? 0 : (ranks.get(kind) as number[]).filter((other) => other < value).length + 1,
  )
  world.requests = inOrder(world.requests)
  world.notices = inOrder(world.notices)
}

/** Kinds of numbers: `shard`, `state 0`, `life 0`, `writes a1`. */
type Visit = (kind: string, value: number) => number

/** Visits all numbers and replaces them by the result. 0 means none everywhere. */
function walk(world: World, on: Visit): void {
  for (const stored of world.store) {
    stored.revision = walkRevision(stored, on)
    if (stored.key.startsWith("state/")) stored.value = walkWriteId(stored.value, on)
  }
  for (const [at, node] of world.nodes.entries()) walkNode(node, nodeOf(at, node), on)
  for (const request of world.requests) walkRequest(request, on)
  for (const notice of world.notices) notice.generation = on("shard", notice.generation)
  const { loaded, acked, shown } = world.history
  for (const entity of loaded.keys()) {
    loaded[entity] = on(`life ${entity}`, loaded[entity] as number)
    acked[entity] = on(`state ${entity}`, acked[entity] as number)
    const { token, life } = shown[entity] as World["history"]["shown"][number]
    shown[entity] = { token: on("shard", token), life: on(`life ${entity}`, life) }
  }
}

function walkNode(node: Node, name: string, on: Visit): void {
  const { home } = node
  node.spent = on("shard", node.spent)
  if (home?.stage === "held") {
    home.generation = on("shard", home.generation)
    home.decision.generation = on("shard", home.decision.generation)
  }
  const claim = home?.stage === "adopting" ? undefined : home?.claim?.state
  if (claim?.kind === "taking") walkGuess(claim.guess, on)
  if (claim?.kind === "judging") claim.placed.generation = on("shard", claim.placed.generation)
  for (const [number, entity] of Object.entries(node.entities)) {
    entity.life = on(`life ${number}`, entity.life)
    entity.base = on(`state ${number}`, entity.base)
    const { save } = entity
    if (save === undefined) continue
    const isRepeatable = save.writeId.split(".").length > 2
    if (!isRepeatable) save.number = on(`writes ${name}`, save.number)
    save.writeId = walkWriteId(save.writeId, on)
  }
}

function walkRequest(request: Request, on: Visit): void {
  const { by, conditions, writes, guess, mover, save, answer } = request
  for (const condition of conditions) {
    if (condition.kind === "at") condition.revision = walkRevision(condition, on)
  }
  for (const write of writes) {
    if (write.key.startsWith("state/") && write.value !== undefined) {
      if (save !== undefined && write.value.split(".").length === 2)
        save.number = on(`writes ${by}`, save.number)
      write.value = walkWriteId(write.value, on)
    }
  }
  if (guess !== undefined) walkGuess(guess, on)
  if (mover !== undefined) mover.generation = on("shard", mover.generation)
  if (save !== undefined) {
    save.life = on(`life ${save.entity}`, save.life)
    save.base = on(`state ${save.entity}`, save.base)
  }
  if (answer !== undefined) walkAnswer(answer, save?.entity, on)
}

function walkAnswer(answer: Mutable<Answer>, entity: number | undefined, on: Visit): void {
  if ("generation" in answer) answer.generation = on("shard", answer.generation)
  if ("revision" in answer) answer.revision = on(`state ${entity}`, answer.revision)
  if ("placed" in answer && typeof answer.placed === "object") {
    answer.placed.generation = on("shard", answer.placed.generation)
  }
}

function walkGuess(guess: NonNullable<Request["guess"]>, on: Visit): void {
  if (guess.kind !== "nothing") guess.generation = on("shard", guess.generation)
}

/** `a1.2`: the node, and the number of the write; under a bug, `a1.3.2` with the generation between them. */
function walkWriteId(text: string, on: Visit): string {
  const [node, first, second] = text.split(".")
  if (second === undefined) return `${node}.${on(`writes ${node}`, Number(first))}`
  return `${node}.${on("shard", Number(first))}.${second}`
}

function walkRevision({ key, revision }: { key: string; revision: number }, on: Visit): number {
  if (key === SHARD) return on("shard", revision)
  return key.startsWith("state/") ? on(`state ${key.slice(key.lastIndexOf("/") + 1)}`, revision) : revision
}

function inOrder<T>(items: T[]): T[] {
  if (items.length < 2) return items
  return items
    .map((item) => ({ item, text: JSON.stringify(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
    .map(({ item }) => item)
}

import { type Hash64, mix, stableHash } from "../address/stable-hash.js"

/**
 * Names the node that should have each shard: a function of who has them now and who may have them.
 *
 * Every node has an even share: the number of shards divided by that of the nodes, or one more. Those that
 * have more than their share give away what is too much and keep the rest, so that a join moves no more than
 * the share of the node that joined, and a death moves only what the dead node had. What nobody has, or has
 * to go, is given in rendezvous order to the nodes that have less than their share.
 *
 * There is no planner that others would have to agree with or wait for. Each node computes the plan, claims
 * what nobody has and the plan gives to it, and moves what it has and the plan gives to others. Nodes that
 * know the same come to the same plan. Where they do not, a shard is claimed or moved once too often, which
 * the next plan corrects; the store decides who has it.
 *
 * `homes` has the node of each shard, undefined if nobody has it. A home that is no candidate, as it leaves
 * or does not host the group, should give its shards away. The result is undefined for all shards if there
 * are no candidates.
 *
 * A candidate in `closed` gets no shard that it does not have: it knows only earlier versions of states than
 * others do, and could not read what was saved in the shard. It keeps up to its share, and the others share
 * the rest. So in a rolling upgrade shards move to upgraded nodes alone.
 */
export function planShards(
  homes: readonly (string | undefined)[],
  candidates: readonly string[],
  closed: ReadonlySet<string> = NOBODY,
): ShardPlan {
  const shares = sharesOf(homes, candidates, closed)
  const plan: (string | undefined)[] = homes.map(() => undefined)
  for (const share of shares.values()) for (const shard of keep(share)) plan[shard] = share.node
  if (shares.size === 0) return plan
  const short = [...shares.values()].filter((share) => share.room > 0)
  for (let shard = 0; shard < plan.length; shard += 1) {
    if (plan[shard] !== undefined) continue
    const share = best(short, shard)
    plan[shard] = share.node
    share.room -= 1
    if (share.room === 0) short.splice(short.indexOf(share), 1)
  }
  return plan
}

/** The node that should have each shard; undefined if nobody may have it. */
export type ShardPlan = readonly (string | undefined)[]

/** What one candidate has, and how many it should have. */
interface Share {
  readonly node: string
  readonly hash: Hash64
  readonly shards: readonly number[]
  /** How many shards the node lacks to its share, and how many it has too many if this is negative. */
  room: number
}

function sharesOf(
  homes: readonly (string | undefined)[],
  candidates: readonly string[],
  closed: ReadonlySet<string>,
): Map<string, Share> {
  const had = new Map<string, number[]>([...candidates].sort().map((node) => [node, []]))
  homes.forEach((home, shard) => {
    if (home !== undefined) had.get(home)?.push(shard)
  })
  const even = Math.floor(homes.length / had.size)
  const closedShares = [...had].flatMap(([node, shards]) =>
    closed.has(node) ? [share(node, shards, Math.min(even, shards.length))] : [],
  )
  const kept = closedShares.reduce((sum, { shards, room }) => sum + shards.length + room, 0)
  const open = [...had].filter(([node]) => !closed.has(node))
  return new Map([...closedShares, ...evenShares(open, homes.length - kept)].map((one) => [one.node, one]))
}

/** Divides this number of shards evenly among nodes that have some. */
function evenShares(had: readonly (readonly [string, readonly number[]])[], count: number): readonly Share[] {
  const even = Math.floor(count / had.length)
  const larger = count - even * had.length
  // The nodes that have most keep one more than the others: nothing moves between two that are even.
  const ordered = [...had].sort(([, a], [, b]) => b.length - a.length)
  return ordered.map(([node, shards], at) => share(node, shards, at < larger ? even + 1 : even))
}

function share(node: string, shards: readonly number[], quota: number): Share {
  return { node, hash: stableHash(node), shards, room: quota - shards.length }
}

/** Returns the shards that a node keeps; of those that are too many, it gives away those of lowest score. */
function keep({ shards, hash, room }: Share): readonly number[] {
  if (room >= 0) return shards
  const scores = new Map(shards.map((shard) => [shard, scoreOf(shard, hash)]))
  const byScore = [...shards].sort((a, b) => compare(scores.get(b) as Hash64, scores.get(a) as Hash64))
  return byScore.slice(0, room)
}

const NOBODY: ReadonlySet<string> = new Set()

function best(shares: readonly Share[], shard: number): Share {
  return shares.reduce((one, other) =>
    compare(scoreOf(shard, other.hash), scoreOf(shard, one.hash)) > 0 ? other : one,
  )
}

function scoreOf(shard: number, { high, low }: Hash64): Hash64 {
  return mix(high, low ^ Math.imul(shard + 1, 0x9e3779b1))
}

function compare(a: Hash64, b: Hash64): number {
  return a.high - b.high || a.low - b.low
}

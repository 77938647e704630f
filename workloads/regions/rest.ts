import type { District } from "./district.js"

/** Says in what the nodes do not agree, of members and of the homes of shards; undefined if they do. */
export function unrest(district: District): string | undefined {
  const { inhabited, terms } = district
  const nodes = inhabited.map((machine) => district.nodeOn(machine))
  if (nodes.some((node) => node === undefined)) return "a node does not run"
  const there = nodes.flatMap((node) => (node === undefined ? [] : [node]))
  const ids = there.map(({ system }) => `${system.node}`).sort()
  for (const { system } of there) {
    const { members, unreachable } = system.cluster
    const seen = members.map(({ node, status }) => `${node} ${status}`).sort()
    if (`${seen}` !== `${ids.map((id) => `${id} up`)}` || unreachable.size > 0)
      return `${system.node} sees ${seen}, unreachable ${[...unreachable.keys()]}`
  }
  const hosts = new Map(
    there.flatMap(({ system, region }) => region.hosted.map((shard) => [shard, `${system.node}`])),
  )
  const hosted = there.reduce((count, { region }) => count + region.hosted.length, 0)
  if (hosted !== hosts.size)
    return `shards are hosted twice: ${there.map(({ region }) => region.hosted).join(" | ")}`
  for (let shard = 0; shard < terms.shards; shard += 1) {
    for (const { system, region } of there) {
      const home = region.homeOf(shard)?.text
      if (home !== undefined && home !== hosts.get(shard))
        return `${system.node} takes ${home} for the home of ${shard}, which is ${hosts.get(shard)}`
    }
  }
  const counts = there.map(({ region }) => region.hosted.length)
  if (Math.max(...counts) - Math.min(...counts) > 1) return `shards are not spread evenly: ${counts}`
  return undefined
}

/** Waits until all agree and shards are spread evenly, and still are so later. Fails the seed if not in time. */
export async function awaitRest(district: District, name: string, withinMs: number): Promise<void> {
  const { stage } = district
  const untilMs = stage.nowMs + withinMs
  for (;;) {
    while (stage.nowMs < untilMs && unrest(district) !== undefined) await stage.sleep(250)
    const problem = unrest(district)
    stage.always(name, problem === undefined, () => `not within ${Math.round(withinMs)} ms: ${problem}`)
    await stage.sleep(1_500)
    if (unrest(district) === undefined) return
  }
}

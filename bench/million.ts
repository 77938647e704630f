/**
 * A million entities in 1,024 shards over three processes, of which one is killed while entities are called at
 * random at a fixed rate: `npm run bench:million -- [calls a second] [entities]`.
 *
 * Prints how long after the death 99% of the calls that had begun by then were answered, and all of them, with the
 * proof of death by the kernel, and without it, when the lease has to end.
 */
import { setTimeout as pause } from "node:timers/promises"
import { NodeProcess } from "../tools/cluster/node-process.js"
import type { MillionCommands, MillionOptions, Probe } from "./remote/million-node.js"
import { scratchFile } from "./sqlite/scratch-store.js"

type Node = NodeProcess<MillionCommands>

const rate = Number(process.argv[2] ?? 5_000)
const count = Number(process.argv[3] ?? 1_000_000)
const BEFORE_MS = 2_000
const SHARDS = 1_024
const STEP = 30_000

for (const deathProof of [true, false]) await measure(deathProof)

async function measure(deathProof: boolean): Promise<void> {
  const { file, remove } = scratchFile()
  const start = async (name: string): Promise<Node> => {
    const program = new URL("./remote/million-node.js", import.meta.url)
    const node: Node = new NodeProcess(name, { program })
    await node.start({ file, deathProof } satisfies MillionOptions)
    return node
  }
  const [one, two, three] = await Promise.all([start("n1"), start("n2"), start("n3")])
  const nodes = [one, two, three]
  while (true) {
    const held = await Promise.all(nodes.map((node) => node.call("shards")))
    if (held.every((shards) => Math.abs(shards - SHARDS / 3) < 1)) break
    await pause(100)
  }
  const beganAt = performance.now()
  for (let from = 0; from < count; from += STEP) {
    const third = STEP / nodes.length
    await Promise.all(
      nodes.map((node, at) =>
        node.call("touch", from + at * third, Math.min(count, from + (at + 1) * third)),
      ),
    )
    process.stderr.write(`${from + STEP} of ${count} entities started\r`)
  }
  const startedMs = performance.now() - beganAt
  const active = await Promise.all(nodes.map((node) => node.call("activations")))
  await one.call("begin", rate, count)
  await pause(BEFORE_MS)
  const killedMs = await one.call("now")
  await three.kill()
  while ((await one.call("shards")) + (await two.call("shards")) < SHARDS) await pause(20)
  const claimedMs = (await one.call("now")) - killedMs
  await pause(5_000)
  const probes = await one.call("settle")
  report({ deathProof, startedMs, active, claimedMs, probes, killedMs })
  await Promise.all([one.stop(30_000), two.stop(30_000)])
  remove()
}

interface Outcome {
  readonly deathProof: boolean
  readonly startedMs: number
  readonly active: readonly number[]
  readonly claimedMs: number
  readonly probes: readonly Probe[]
  readonly killedMs: number
}

function report({ deathProof, startedMs, active, claimedMs, probes, killedMs }: Outcome): void {
  const after = probes.filter(({ endedMs }) => endedMs >= killedMs)
  const failed = after.filter(({ failures }) => failures > 0).length
  console.log(`${deathProof ? "with" : "without"} the proof of death, ${rate} calls a second from one node:`)
  console.log(`  ${active.join(", ")} entities active, started at ${perSecond(active, startedMs)} a second`)
  console.log(`  all shards claimed after ${Math.round(claimedMs)} ms`)
  console.log(
    `  99% served after ${servedAfter(after, killedMs, 0.99)} ms, all after ${servedAfter(after, killedMs, 1)} ms`,
  )
  console.log(
    `  ${failed} of ${after.length} calls failed at first, as their node died while they ran, and were made again`,
  )
}

function perSecond(active: readonly number[], ms: number): number {
  return Math.round((active.reduce((sum, one) => sum + one, 0) / ms) * 1_000)
}

/** The first moment from which on this share of the calls that had begun was always answered, but for the last 50 ms. */
function servedAfter(probes: readonly Probe[], killedMs: number, share: number): number {
  const last = Math.max(...probes.map(({ beganMs }) => beganMs))
  let served = 0
  for (let at = 0; killedMs + at < last; at += 10) {
    const begun = probes.filter(({ beganMs }) => beganMs <= killedMs + at - 50)
    const answered = begun.filter(({ endedMs }) => endedMs <= killedMs + at).length
    if (answered < begun.length * share) served = at + 10
  }
  return served
}

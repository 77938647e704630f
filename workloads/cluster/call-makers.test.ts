import { expect, test } from "vitest"
import { noFaults, runSeed, type Stage, type Workload } from "../../src/sim/index.js"
import { type CallLeft, handedOverTooLate, leftTooLate, markedPorts, markOf } from "./call-makers.js"
import { ClaimTimes } from "./claim-times.js"

const maker = { id: "plain/hot", generation: 4 }
const other = { id: "rare/cold-1", generation: 123 }

test("a call that leaves after its maker was superseded is too late, and one that was let go before is not", () => {
  const claims = claimed([4, 10], [18, 700], [25, 900])
  expect(leftTooLate(left(701), claims)).toBe(
    "a call of plain/hot at generation 4 was sent, and generation 18 had been claimed at 700 ms",
  )
  for (const decidedMs of [10, 699, 700]) expect(leftTooLate(left(decidedMs), claims)).toBeUndefined()
  expect(leftTooLate(left(9_999), claimed([4, 10]))).toBeUndefined()
})

test("a call to an actor of its own node is too late if that actor was claimed after its maker was superseded", () => {
  const claims = claimed([4, 10], [18, 700])
  const to = (generation: number) => handedOverTooLate(maker, { id: "rare/hot", generation }, claims)
  expect(to(19)).toContain("plain/hot at generation 4 was handed over to rare/hot at generation 19")
  expect(to(17)).toBeUndefined()
})

test("every mark is heard as it leaves; a process that stood still since is judged by when the batch was begun", async () => {
  const heard: CallLeft[] = []
  let [stoodStillAtMs, wentOnAtMs] = [0, 0]
  await run(async (stage) => {
    stage.invariant<CallLeft>("heard", (event) => {
      heard.push(event)
      return undefined
    })
    stage.start("beta", async ({ host, ports }) => {
      await ports.network.listen({ host, port: 7 }, () => {})
    })
    stage.start("alpha", () => {})
    const to = { host: stage.hostOf("beta"), port: 7 }
    await stage.sleep(10)
    await stage.on("alpha", async (life) => {
      const ports = markedPorts(life, () => stage.nowMs)
      const connection = await ports.network.connect(to)
      connection.write(Buffer.from(`${markOf(maker)} and ${markOf(other)}, but no [made by`))
      life.ports.clock.setTimer(100, () => {
        stoodStillAtMs = stage.nowMs
        // As remoting does: what is written now leaves when this is over.
        ports.scheduler.afterMicrotasks(() => void connection.write(Buffer.from(markOf(maker))))
        stage.pause("alpha", 5_000)
      })
      // What is decided once it goes on is judged by that.
      life.ports.clock.setTimer(4_000, () => {
        wentOnAtMs = stage.nowMs
        ports.scheduler.afterMicrotasks(() => void connection.write(Buffer.from(markOf(other))))
      })
    })
    await stage.sleep(10_000)
  })
  expect(heard.map(({ maker }) => maker)).toEqual([maker, other, maker, other])
  expect(heard.slice(2).map(({ decidedMs }) => decidedMs)).toEqual([stoodStillAtMs, wentOnAtMs])
  expect(wentOnAtMs - stoodStillAtMs).toBe(5_000)
})

function left(decidedMs: number): CallLeft {
  return { kind: "call-left", maker, decidedMs }
}

function claimed(...claims: readonly (readonly [generation: number, atMs: number])[]): ClaimTimes {
  const times = new ClaimTimes((id) => id)
  for (const [generation, atMs] of claims) times.add(maker.id, { generation, node: "", atMs })
  return times
}

async function run(story: (stage: Stage) => Promise<void>): Promise<void> {
  const workload: Workload = { name: "makers", about: "a call that leaves", run: story }
  const { failure } = await runSeed(workload, 1, { faults: noFaults() })
  expect(failure).toBeUndefined()
}

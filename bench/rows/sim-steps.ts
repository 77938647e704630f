import type { Connection, Endpoint } from "../../src/ports/network.js"
import type { Life, Workload } from "../../src/sim/index.js"
import { inTurn, rounds } from "../measure.js"
import { median } from "../quantile.js"
import type { FreeRow } from "../row.js"
import { sampleWorld } from "./sim-sample.js"

const VIRTUAL_MS = 20_000
const TIMER_MS = 1
const MESSAGE_BYTES = 64
const PORT = 7_000
const MACHINES = ["alpha", "beta", "gamma"]

/**
 * Steps of a busy world, each with a microtask of its own: timers, and messages that are echoed over the
 * network. The limit is what Node takes to run as many callbacks one by one with their microtasks between,
 * and nothing else.
 */
export const simSteps: FreeRow = {
  kind: "free",
  name: "sim-steps",
  unit: "steps/s",
  async measure(progress) {
    progress("warming up")
    const { report } = await sampleWorld(busy)
    await bareSpeed(report.steps)
    const ours: number[] = []
    const limits: number[] = []
    const racers = [
      async () => ours.push(await busySpeed()),
      async () => limits.push(await bareSpeed(report.steps)),
    ]
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`)
      for (const sample of inTurn(racers, round)) await sample()
    }
    const value = median(ours)
    const limit = median(limits)
    return { value, limit, ratio: value / limit }
  },
}

async function busySpeed(): Promise<number> {
  const { report, elapsedMs } = await sampleWorld(busy)
  // A message takes two milliseconds there and back when it is slowest.
  const echoes = (MACHINES.length * VIRTUAL_MS) / 2
  if (report.operations < echoes * 0.9) throw new Error(`${report.operations} echoes, not ${echoes}`)
  return (report.steps * 1_000) / elapsedMs
}

const busy: Workload = {
  name: "busy",
  about: "machines that echo what their neighbour sends",
  limits: { virtualMs: VIRTUAL_MS + 1_000 },
  async run(stage) {
    const hosts: string[] = []
    for (const name of MACHINES) {
      stage.start(name, echo)
      hosts.push(await stage.on(name, (life) => life.host))
    }
    for (const [index, name] of MACHINES.entries()) {
      const host = hosts[(index + 1) % hosts.length] as string
      await stage.on(name, (life) => converse(life, { host, port: PORT }, () => stage.operation()))
    }
    await stage.sleep(VIRTUAL_MS)
  },
}

async function echo({ host, ports: { clock, network, scheduler } }: Life): Promise<void> {
  const again = () => clock.setTimer(TIMER_MS, fire)
  const fire = () => scheduler.microtask(again)
  again()
  await network.listen({ host, port: PORT }, (connection) =>
    answer(connection, (chunk) => scheduler.microtask(() => connection.write(chunk))),
  )
}

/** One message is in flight at any time. */
async function converse(
  { ports: { network, scheduler } }: Life,
  to: Endpoint,
  answered: () => void,
): Promise<void> {
  const connection = await network.connect(to)
  const message = new Uint8Array(MESSAGE_BYTES)
  const send = () => connection.write(message)
  answer(connection, () => {
    answered()
    scheduler.microtask(send)
  })
  send()
}

function answer(connection: Connection, data: (chunk: Uint8Array) => void): void {
  connection.attach({ data, drained() {}, ended() {}, closed() {} })
}

const STEPS_A_ROUND = 1_000
const settled = Promise.resolve()

async function bareSpeed(steps: number): Promise<number> {
  globalThis.gc?.()
  const startedAt = performance.now()
  await bareSteps(steps)
  return (steps * 1_000) / (performance.now() - startedAt)
}

function bareSteps(steps: number): Promise<void> {
  return new Promise((resolve) => {
    let left = steps
    const task = () => {
      left -= 1
      if (left === 0) resolve()
    }
    const step = () => {
      settled.then(task)
    }
    const round = () => {
      const now = Math.min(left, STEPS_A_ROUND)
      for (let asked = 0; asked < now; asked += 1) setImmediate(step)
      if (now > 0) setImmediate(round)
    }
    round()
  })
}

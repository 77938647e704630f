import { expect, test } from "vitest"
import type { Connection } from "../../src/ports/network.js"
import { faultKinds, type Life, noFaults, runSeed, type Stage, type Workload } from "../../src/sim/index.js"

const machines = ["alpha", "beta", "gamma"]
const seeds = 60

/**
 * The contract of the port, checked at every connection of a busy network: nothing is called after `closed`,
 * no data comes after `ended`, received bytes are a prefix of those sent, and every connection that a live
 * process destroys is closed.
 */
const contract: Workload = {
  name: "contract",
  about: "connections between machines, with handlers that check the contract",
  async run(stage) {
    for (const name of machines) stage.start(name, (life) => busy(life, stage))
    await stage.sleep(30_000)
    stage.calm()
    await stage.sleep(20_000)
    for (const name of machines) {
      const open = await stage.on(name, () => opened.get(name)?.size)
      stage.always("every opened connection is closed", open === 0, () => `${name}: ${open} are open`)
    }
  },
}

const opened = new Map<string, Set<Connection>>()
const ends = new Map<string, number>()

function busy(life: Life, stage: Stage): void {
  const machine = life.name.split(".")[0] as string
  const mine = new Set<Connection>()
  opened.set(machine, mine)
  const { network, random, clock } = life.ports
  const serve = (connection: Connection) => {
    const watched = watch(life, connection, mine)
    watched.data = (chunk) => void connection.write(chunk)
    watched.ended = () => connection.end()
    clock.setTimer(10_000, () => connection.destroy())
  }
  const ask = async () => {
    const to = { host: `10.0.0.${2 + (random.uint32() % machines.length)}`, port: 7_000 }
    const connection = await network.connect(to, { timeoutMs: 1_000 })
    const watched = watch(life, connection, mine)
    const sent = random.bytes(1 + (random.uint32() % 3_000))
    let received = 0
    watched.data = (chunk) => {
      const expected = sent.subarray(received, received + chunk.length)
      received += chunk.length
      life.always("received bytes are those sent", Buffer.compare(expected, chunk) === 0)
    }
    watched.closed = (kind) =>
      life.always("a clean end is reported as one", kind !== "ended" || watched.hasEnded)
    connection.write(sent)
    connection.end()
    clock.setTimer(random.uint32() % 8_000, () => connection.destroy())
  }
  void network.listen({ host: life.host, port: 7_000 }, serve)
  const again = () => {
    if (stage.nowMs > 32_000) return
    ask().catch(({ code }) => life.sometimes(`a connect fails: ${code}`))
    clock.setTimer(random.uint32() % 400, again)
  }
  again()
}

interface Watched {
  data: (chunk: Uint8Array) => void
  ended: () => void
  closed: (kind: string) => void
  hasEnded: boolean
}

function watch(life: Life, connection: Connection, open: Set<Connection>): Watched {
  const watched: Watched = { data: () => {}, ended: () => {}, closed: () => {}, hasEnded: false }
  const isOpen = (call: string) =>
    life.always("nothing is called after closed", open.has(connection), () => `${life.name}: ${call}`)
  open.add(connection)
  connection.attach({
    data: (chunk) => {
      isOpen("data")
      life.always("no data after ended", !watched.hasEnded)
      watched.data(chunk)
    },
    drained: () => isOpen("drained"),
    ended: () => {
      isOpen("ended")
      life.always("ended is called once", !watched.hasEnded)
      watched.hasEnded = true
      watched.ended()
    },
    closed: (reason) => {
      isOpen("closed")
      open.delete(connection)
      ends.set(reason.kind, (ends.get(reason.kind) ?? 0) + 1)
      watched.closed(reason.kind)
    },
  })
  return watched
}

test(`the port's contract holds for ${seeds} seeds with all faults of a network`, async () => {
  const struck = new Set<string>()
  const failed = new Set<string>()
  for (let seed = 1; seed <= seeds; seed += 1) {
    // Corruption would change the received bytes; other tests cover it.
    const on = Object.fromEntries(faultKinds.filter((kind) => kind !== "corruption").map((kind) => [kind, 1]))
    const report = await runSeed(contract, seed, { faults: { ...noFaults(), ...on } })
    expect(report.failure, `seed ${seed}`).toBeUndefined()
    for (const kind of report.faults.keys()) struck.add(kind)
    for (const name of report.sometimes.keys()) failed.add(name)
  }
  const told = faultKinds.filter((kind) => !["corruption", "slow-network", "clock-drift"].includes(kind))
  // There is no store here, and no thread.
  expect([...struck].sort()).toEqual(told.filter((kind) => !/^(store|thread)-/.test(kind)).sort())
  expect([...failed].sort()).toEqual(["a connect fails: Refused", "a connect fails: TimedOut"])
  for (const kind of ["ended", "aborted", "failed"]) expect(ends.get(kind), kind).toBeGreaterThan(100)
})

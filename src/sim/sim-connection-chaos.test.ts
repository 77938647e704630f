import { expect, test } from "vitest"
import { SmallWorld, type Witness } from "../../test/sim/small-world.js"
import { SeededRandom } from "./seeded-random.js"

const MUCH = 400 * 1024

test("whatever happens, closed comes once and last, no data follows ended, and received bytes are those sent", async () => {
  let [closed, reset, ended, drained] = [0, 0, 0, 0]
  for (let seed = 0; seed < 150; seed += 1) {
    const faults = { "partial-write": 1, "slow-network": seed % 3 === 0 ? 1 : 0, "half-open": 0.5 }
    const small = new SmallWorld({ seed, faults })
    const { near, far } = await small.connected()
    const sent = await molest(small, near, far, new SeededRandom(seed + 10_000))
    for (const [witness, written] of [
      [near, sent.far],
      [far, sent.near],
    ] as const) {
      const { told } = witness
      const closes = told.filter((what) => what.startsWith("closed"))
      expect(closes.length, `seed ${seed}: ${told}`).toBeLessThanOrEqual(1)
      if (closes.length === 1) expect(told.at(-1), `seed ${seed}`).toBe(closes[0])
      expect(told.filter((what) => what === "ended").length, `seed ${seed}`).toBeLessThanOrEqual(1)
      if (told.includes("ended")) expect(told.lastIndexOf("data")).toBeLessThan(told.indexOf("ended"))
      expect(Buffer.compare(written.subarray(0, witness.bytes.length), witness.bytes), `seed ${seed}`).toBe(0)
      const survived = small.world.processOn(witness.process.machine.name) === witness.process
      if (survived) expect(closes, `seed ${seed}: ${told}`).toHaveLength(1)
      closed += closes.length
      reset += closes[0] === "closed: Reset" ? 1 : 0
      ended += closes[0] === "closed: ended" ? 1 : 0
      drained += told.includes("drained") ? 1 : 0
    }
  }
  expect(Math.min(closed, reset, ended, drained)).toBeGreaterThan(10)
})

/** Calls random methods of a connection; at the end both sides that still can destroy it. */
async function molest(
  small: SmallWorld,
  near: Witness,
  far: Witness,
  random: SeededRandom,
): Promise<{ near: Uint8Array; far: Uint8Array }> {
  const sent = new Map<Witness, Uint8Array[]>([
    [near, []],
    [far, []],
  ])
  const acts: ((witness: Witness) => unknown)[] = [
    ({ connection }) => connection.pause(),
    ({ connection }) => connection.resume(),
    ({ connection }) => random.chance(0.3) && connection.end(),
    ({ connection }) => random.chance(0.1) && connection.destroy(),
    () => random.chance(0.1) && small.world.connections()[0]?.cut(random.pick(["reset", "end"])),
    () => {
      const [from, to] = random.chance(0.5) ? ["alpha", "beta"] : ["beta", "alpha"]
      small.world.cut(from as string, to as string)
    },
    () => small.world.heal(),
    () => random.chance(0.05) && small.world.crash(random.pick(["alpha", "beta"])),
  ]
  for (let act = 0; act < 40; act += 1) {
    const witness = random.pick([near, far])
    const { name } = witness.process.machine
    if (small.world.processOn(name) !== witness.process) continue
    const write = random.chance(0.4)
    const bytes = random.bytes(1 + random.below(random.chance(0.05) ? MUCH : 500))
    const what = random.pick(acts)
    await small.on(name, () => {
      if (!write) return what(witness)
      sent.get(witness)?.push(bytes)
      return witness.connection.write(bytes)
    })
    if (random.chance(0.5)) await small.runFor(random.below(20))
  }
  small.world.heal()
  for (const { connection, process: proc } of [near, far]) {
    if (proc.isAlive) await small.on(proc.machine.name, () => connection.resume())
  }
  await small.run()
  for (const { connection, process: proc } of [near, far]) {
    if (proc.isAlive) await small.on(proc.machine.name, () => connection.destroy())
  }
  await small.run()
  return { near: Buffer.concat(sent.get(near) ?? []), far: Buffer.concat(sent.get(far) ?? []) }
}

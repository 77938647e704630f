import { expect, it } from "vitest"
import type { Clock } from "../../src/ports/clock.js"
import { nodeClock } from "../../src/runtime/node-clock.js"
import { Fuzzer } from "./support/fuzz.js"
import { bytesInUse, MIB } from "./support/memory.js"
import { sieges } from "./support/siege.js"
import { notice, until } from "./support/until.js"

/** A number that takes some seconds; raise it to send a million. */
const PAYLOADS = 10_000
const SEED = 20_260_101

const besiege = sieges()

/** Gives notice of each timer: a quarantine ends by one. */
const noticed: Clock = {
  ...nodeClock,
  setTimer: (delayMs, fire) =>
    nodeClock.setTimer(delayMs, () => {
      fire()
      notice()
    }),
}

it(`survives ${PAYLOADS} mutated payloads, and the frames around them`, { timeout: 3_600_000 }, async () => {
  const fuzzer = new Fuzzer(SEED)
  const { node, honest, checkLog } = await besiege(
    { codec: fuzzer.codec, quarantineMs: 1_000 },
    { clock: noticed },
  )
  const reasons = new Set<string>()
  const round = async () => {
    await fuzzer.run(node, PAYLOADS / 10)
    for (const { reason } of [...node.quarantined, ...node.lost])
      reasons.add(reason.replace(/[^a-z ]+/g, "*"))
    checkLog()
    node.forget()
  }
  await round()
  const before = { bytes: await bytesInUse(), answered: honest.answered }
  while (fuzzer.decoded < PAYLOADS) await round()
  expect(honest.answered).toBeGreaterThan(before.answered)
  // The run covers many kinds of damage, and many payloads that were still readable.
  expect(reasons.size).toBeGreaterThan(20)
  expect(fuzzer.connections).toBeLessThan(fuzzer.decoded)
  await until("it has forgotten them", () => node.system.association("127.0.0.3:1000") === undefined)
  const grown = (await bytesInUse()) - before.bytes
  expect(grown).toBeLessThan(16 * MIB)
})

import { ActorId } from "../../src/address/actor-id.js"
import type { Write } from "../../src/ports/store.js"
import { satelliteKey } from "../../src/registry/registry-keys.js"
import { DurableAccount, DurableBank } from "../durable-bank.js"
import { latencyOf } from "../quantile.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"
import { saving } from "../saving.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes, ScratchRegistry } from "../sqlite/scratch-registry.js"

const PAIRS = 64
/** Begins the names of rows with the last message of a sender. */
const INBOX = "/i/"

/** Each lane has an actor that sends to another one, and waits until that has stored what it was sent. */
const transferring: Contender = {
  async setup(): Promise<Workload> {
    const arrivals = new Arrivals()
    const bank = await DurableBank.open({ committed: (writes) => arrivals.committed(writes) })
    const pairs = Array.from({ length: PAIRS }, (_, lane) => {
      return { sender: bank.account(lane), receiver: `user-${lane + PAIRS}@example.com` }
    })
    const transfer = async (lane: number) => {
      const { sender, receiver } = pairs[lane] as (typeof pairs)[number]
      const arrived = arrivals.at(receiver)
      await sender.transfer(receiver, 1)
      await arrived
    }
    await Promise.all(pairs.map((_, lane) => transfer(lane)))
    return {
      fewestOperations: 4 * PAIRS,
      run: async (operations) => {
        const tookMs = await inLanes(PAIRS, times(operations), transfer)
        return latencyOf(tookMs.map((ms) => ms * 1_000))
      },
      teardown: () => bank.close(),
    }
  },
}

/** Notices the commits of receivers, which put the number of the message that was applied. */
class Arrivals {
  readonly #awaited = new Map<string, () => void>()

  at(receiver: string): Promise<void> {
    return new Promise((resolve) => {
      const id = ActorId.of("bench", DurableAccount.type, receiver)
      this.#awaited.set(satelliteKey(id, INBOX.slice(1)), resolve)
    })
  }

  committed(writes: readonly Write[]): void {
    for (const { key } of writes) {
      const end = key.indexOf(INBOX) + INBOX.length
      if (end >= INBOX.length) this.#awaited.get(key.slice(0, end))?.()
    }
  }
}

/** Messages of `eventually` between 64 pairs of actors on SQLite, until they are applied, against two saves. */
export const eventually: ThroughputRow = {
  kind: "throughput",
  name: "eventually",
  unit: "messages/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: transferring,
  limit: saving(PAIRS, () => ScratchRegistry.start(), { savesEach: 2 }),
}

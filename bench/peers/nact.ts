import type { Contender } from "../row.js"
import { inParallel, localAsk, localAsk64 } from "../rows/local-ask.js"
import { localTell } from "../rows/local-tell.js"
import { importFrom } from "./import-from.js"
import { nact } from "./peer.js"
import type { PeerRow } from "./peer-row.js"

interface Question {
  readonly number: number
  readonly replyTo: unknown
}

const QUERY_TIMEOUT_MS = 60_000

const querying = (inFlight: number, folder: string): Contender => ({
  async setup() {
    const { dispatch, query, spawnStateless, start, stop } = await importFrom(folder, "nact")
    const system = start()
    const actor = spawnStateless(system, ({ number, replyTo }: Question) => dispatch(replyTo, number + 1))
    const ask = (number: number): Promise<number> =>
      query(actor, (replyTo: unknown): Question => ({ number, replyTo }), QUERY_TIMEOUT_MS)
    if ((await ask(1)) !== 2) throw new Error("the actor does not count")
    return { run: (operations) => inParallel(inFlight, operations, ask), teardown: () => stop(system) }
  },
})

/** Messages told in one go before the event loop goes round, as in `local-tell`. */
const BURST = 1_000

const dispatching = (folder: string): Contender => ({
  async setup() {
    const { dispatch, spawnStateless, start, stop } = await importFrom(folder, "nact")
    let missing = 0
    let arrived = () => {}
    const system = start()
    const actor = spawnStateless(system, ({ amount }: { amount: number }) => {
      missing -= amount
      if (missing === 0) arrived()
    })
    return {
      run(operations) {
        missing = operations
        const all = new Promise<void>((resolve) => {
          arrived = resolve
        })
        let left = operations
        const burst = () => {
          for (let sent = 0; sent < BURST && left > 0; sent += 1, left -= 1) dispatch(actor, { amount: 1 })
          if (left > 0) setImmediate(burst)
        }
        burst()
        return all
      },
      teardown: () => stop(system),
    }
  },
})

/** One-way messages to one actor, beside `tell`. */
export const peerNactDispatch: PeerRow = {
  kind: "peer",
  name: "peer-nact-dispatch",
  unit: "messages/s",
  peer: nact,
  theirs: dispatching,
  ours: localTell.ours,
}

const queryRow = (inFlight: number, ours: Contender): PeerRow => ({
  kind: "peer",
  name: `peer-nact-query-${inFlight}`,
  unit: "asks/s",
  peer: nact,
  theirs: (folder) => querying(inFlight, folder),
  ours,
})

/** Questions to one actor, beside `ask`. */
export const peerNactQuery1 = queryRow(1, localAsk.ours)
export const peerNactQuery64 = queryRow(64, localAsk64.ours)

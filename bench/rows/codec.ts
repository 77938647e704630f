import type { RefTexts } from "../../src/ports/codec.js"
import { binaryCodec } from "../../src/serialization/binary-codec.js"
import { OutputBuffer } from "../../src/serialization/output-buffer.js"
import { TypeRegistry } from "../../src/serialization/type-registry.js"
import { keep } from "../keep.js"
import { latencyOf } from "../quantile.js"
import type { Latency, ThroughputRow } from "../row.js"

/**
 * A message to bytes and back, against what the engine does for the same message with JSON, without bytes.
 */
export const codec: ThroughputRow = {
  kind: "throughput",
  name: "codec",
  unit: "messages/s",
  ours: {
    setup: () => {
      const binary = binaryCodec()({ refs: noRefs, types: new TypeRegistry([]) })
      const out = new OutputBuffer(4_096)
      return {
        run: (operations) =>
          timingSome(operations, () => {
            out.at = 0
            binary.encode(message, out)
            keep(binary.decode(out.bytes, 0, out.at))
          }),
      }
    },
  },
  limit: {
    setup: () => ({
      run: (operations) => timingSome(operations, () => keep(JSON.parse(JSON.stringify(message)))),
    }),
  },
}

/** Reading the clock costs a good part of a message, so one in so many is timed. */
const TIMED = 101

function timingSome(operations: number, operate: () => void): Latency {
  const timesUs: number[] = []
  for (let done = 0; done < operations; done += 1) {
    if (done % TIMED !== 0) operate()
    else {
      const startedAt = performance.now()
      operate()
      timesUs.push((performance.now() - startedAt) * 1_000)
    }
  }
  return latencyOf(timesUs)
}

const message = {
  kind: "transfer",
  number: 7,
  amount: 129.95,
  express: false,
  from: { account: 48_213, owner: "Ada Lovelace" },
  note: "for the books that were lent in March, with thanks for waiting..",
}

const noRefs: RefTexts = {
  isRef: () => false,
  textOf: () => "",
  refOf: () => ({}),
}

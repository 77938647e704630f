import { ActorPath } from "../../src/address/actor-path.js"
import { keep } from "../keep.js"
import type { ThroughputRow } from "../row.js"

const parent = "troupe.tcp://prod@10.0.0.7:25520/user/orders"
const names = Array.from({ length: 64 }, (_, index) => `order-${48_213 + index}`)

/**
 * Naming a new child and writing its path out, against joining the three texts. Nothing is written out twice.
 */
export const pathFormat: ThroughputRow = {
  kind: "throughput",
  name: "path-format",
  unit: "paths/s",
  ours: {
    setup: () => {
      const path = ActorPath.parse(parent)
      return {
        run(operations) {
          for (let uid = 1; uid <= operations; uid += 1) {
            keep(
              path
                .child(names[uid % 64] ?? "")
                .withUid(uid)
                .toString(),
            )
          }
        },
      }
    },
  },
  limit: {
    setup: () => ({
      run(operations) {
        for (let uid = 1; uid <= operations; uid += 1) keep(`${parent}/${names[uid % 64] ?? ""}#${uid}`)
      },
    }),
  },
}

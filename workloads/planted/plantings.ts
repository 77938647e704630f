import { activationPlantings } from "./activation-plantings.js"
import { indexPlantings } from "./index-plantings.js"
import { leasePlantings } from "./lease-plantings.js"
import { membershipPlantings } from "./membership-plantings.js"
import { oncePlantings } from "./once-plantings.js"
import { placementPlantings } from "./placement-plantings.js"
import type { Planting } from "./planting.js"
import { regionPlantings } from "./region-plantings.js"
import { registryPlantings } from "./registry-plantings.js"
import { reminderPlantings } from "./reminder-plantings.js"
import { renewalPlantings } from "./renewal-plantings.js"
import { shardPlantings } from "./shard-plantings.js"
import { weakStorePlantings } from "./weak-store-plantings.js"

/** Every bug that `npm run sim -- --plant NAME` knows. A test plants each, and sees that it is found. */
export const plantings: readonly Planting[] = [
  {
    name: "mailbox-forgets-one",
    about: "an actor that stops forgets one of the messages that wait for it",
    breaks: "every message is handled or in dead letters",
    workload: "local",
    file: "src/actor/mailbox.ts",
    from: "this.#queue?.slice(this.#head)",
    to: "this.#queue?.slice(this.#head + 1)",
  },
  {
    name: "sent-is-not-delivered",
    about: "a question that was sent and is given up is said not to have been delivered",
    breaks: "what was not delivered is never handled",
    workload: "remoting",
    file: "src/remote/remote-node.ts",
    from: `if (this.#session?.withdraw(reply.correlation) === true) return "unknown";`,
    to: `if (this.#session?.withdraw(reply.correlation) === true) return "not-delivered";`,
  },
  ...registryPlantings,
  ...activationPlantings,
  ...leasePlantings,
  ...renewalPlantings,
  ...placementPlantings,
  ...weakStorePlantings,
  ...membershipPlantings,
  ...regionPlantings,
  ...shardPlantings,
  ...oncePlantings,
  ...reminderPlantings,
  ...indexPlantings,
]

import type { Workload } from "../src/sim/index.js"
import { activation } from "./activation.js"
import { bank } from "./bank.js"
import { burst } from "./burst.js"
import { indexes } from "./indexes.js"
import { lag } from "./lag.js"
import { local } from "./local.js"
import { membership } from "./membership.js"
import { neighbours } from "./neighbours.js"
import { once } from "./once.js"
import { regions } from "./regions.js"
import { registry } from "./registry.js"
import { reminders } from "./reminders.js"
import { remoting } from "./remoting.js"
import { shards } from "./shards.js"
import { silence } from "./silence.js"
import { stall } from "./stall.js"
import { store } from "./store.js"

/** Every workload that `npm run sim` knows, in the order of its list. */
export const workloads: readonly Workload[] = [
  local,
  remoting,
  store,
  registry,
  activation,
  bank,
  burst,
  stall,
  silence,
  lag,
  membership,
  neighbours,
  regions,
  shards,
  once,
  reminders,
  indexes,
]

import type { Workload } from "../src/sim/index.js"
import { local } from "./local.js"
import { remoting } from "./remoting.js"
import { store } from "./store.js"

/** Every workload that `npm run sim` knows, in the order of its list. */
export const workloads: readonly Workload[] = [local, remoting, store]

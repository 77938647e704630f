import type { Workload } from "../src/sim/index.js"
import { local } from "./local.js"

/** Every workload that `npm run sim` knows, in the order of its list. */
export const workloads: readonly Workload[] = [local]

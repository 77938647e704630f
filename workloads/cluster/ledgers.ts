import type { Stage } from "../../src/sim/index.js"
import { CacheLedger } from "./cache-ledger.js"
import { CallLedger } from "./call-ledger.js"
import { judgeMakers } from "./call-makers.js"
import { CatalogLedger } from "./catalog-ledger.js"
import type { Cluster } from "./cluster.js"
import { DoorLedger } from "./door-ledger.js"
import { LeaseLedger } from "./lease-ledger.js"
import { StateLedger } from "./state-ledger.js"
import { StoreHistory } from "./store-history.js"
import { TurnLedger } from "./turn-ledger.js"
import { ViewLedger } from "./view-ledger.js"
import { WriteLedger } from "./write-ledger.js"

/**
 * Judges all that performers and their nodes do; where `delivers`, also that calls arrive as long as no fault
 * is on.
 */
export function judgeAll(
  stage: Stage,
  cluster: Cluster,
  { delivers, history = new StoreHistory(stage, cluster) }: JudgeOptions,
): CallLedger {
  new DoorLedger(history, stage)
  judgeMakers(stage, history)
  new WriteLedger(stage)
  new StateLedger(history, stage)
  new LeaseLedger(stage)
  new CacheLedger(stage)
  new TurnLedger(history, stage)
  new CatalogLedger(stage)
  new ViewLedger(stage)
  return new CallLedger(cluster, stage, delivers)
}

interface JudgeOptions {
  readonly delivers: boolean
  readonly history?: StoreHistory
}

// What `--peers` adds to the table, in this order, after all other rows.
import { peerEffectClusterLocal1, peerEffectClusterLocal64 } from "./effect-cluster-local.js"
import {
  peerEffectClusterRemote1,
  peerEffectClusterRemote64,
  peerEffectClusterRemote1024,
} from "./effect-cluster-remote.js"
import { peerNactDispatch, peerNactQuery1, peerNactQuery64 } from "./nact.js"
import type { PeerRow } from "./peer-row.js"

export const peerRows: readonly PeerRow[] = [
  peerNactDispatch,
  peerNactQuery1,
  peerNactQuery64,
  peerEffectClusterLocal1,
  peerEffectClusterLocal64,
  peerEffectClusterRemote1,
  peerEffectClusterRemote64,
  peerEffectClusterRemote1024,
]

import type { CodecFactory, Digest, Network } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"

/** What is put between remoting and the world, to see whether the workload notices. */
export interface Plant {
  network?(inner: Network, life: Life): Network
  digest?(inner: Digest): Digest
  codec?(): CodecFactory
}

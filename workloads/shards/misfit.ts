import { Actor, SettingsError, sharded } from "../../src/index.js"
import { type Life, type Stage, startSystem } from "../../src/sim/index.js"
import { type Cluster, sleep } from "../cluster/cluster.js"
import { CROWD, type Layout } from "./layout.js"

/** Starts a node that divides the group differently, which must be refused before it joins. */
export function startMisfit(stage: Stage, cluster: Cluster, layout: Layout): void {
  const { store, namespace } = cluster
  // The first node decides on the number, whoever it is.
  if (store.list(`${namespace}/groups/${CROWD}`).entries.length === 0) return
  const Misfit = class extends Actor {
    static readonly type = "plain"
    static readonly placement = sharded({ shards: layout.count + 1, group: CROWD })
  }
  stage.start("misfit", async (life) => {
    const refusal = await refusalOf(life, () =>
      startSystem(life, {
        namespace,
        actors: [Misfit],
        store: store.provider(life),
        listen: { host: life.host, port: 25_520, secret: "a secret of the cluster" },
      }),
    )
    const isRefused = refusal instanceof SettingsError && refusal.message.includes("shards")
    life.always("a node with another number of shards is refused", isRefused, () => `${refusal}`)
    life.sometimes("a node with another number of shards is refused", isRefused)
  })
}

/** Tries again while the store does not answer. */
async function refusalOf(life: Life, start: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      await start()
      return undefined
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "StoreUnavailable") return error
      await sleep(life, 200)
    }
  }
}

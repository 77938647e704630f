import { ActorId } from "../../src/index.js"
import type { Stage } from "../../src/sim/index.js"
import { wardOf } from "../../src/virtual/due-entry.js"
import type { Cluster } from "../cluster/cluster.js"
import { crash } from "../cluster/strikes.js"
import { PLAIN } from "./clerk.js"

/**
 * Strikes the keeper of a ward at moments of a firing that chance would rarely hit: it dies before, during or
 * after a firing, or cannot reach the actor that it fires. It also knows who keeps what.
 */
export class KeeperStrikes {
  readonly #stage: Stage
  readonly #cluster: Cluster
  /** The machine that keeps each ward. */
  readonly #keepers = new Map<string, string>()
  /** Called when a ward has another keeper. */
  onMoved: (ward: string) => void = () => {}
  #armed: Moment | undefined

  constructor(stage: Stage, cluster: Cluster) {
    this.#stage = stage
    this.#cluster = cluster
    const wards = `${cluster.namespace}/wards/`
    cluster.store.observe((event) => {
      if (event.kind !== "judged" || event.result.kind !== "committed") return
      for (const write of event.commit.writes) {
        if (write.kind !== "put" || !write.key.startsWith(wards)) continue
        this.#kept(write.key.slice(wards.length), Buffer.from(write.value).toString("latin1"))
      }
    })
  }

  /** The next such moment of any firing is used, if there are such faults. */
  arm(): void {
    const { faults, random } = this.#stage
    const moments = MOMENTS.filter((one) => faults[one === APART ? "partition" : "crash"] > 0)
    if (moments.length > 0) this.#armed ??= random.pick(moments)
  }

  disarm(): void {
    this.#armed = undefined
  }

  keeperOf(type: string, key: string): string | undefined {
    // The shards of the other type are kept by the nodes that have them.
    if (type !== PLAIN) return undefined
    return this.#keepers.get(wardOf(ActorId.of(this.#cluster.namespace, type, key), undefined))
  }

  /** A commit has set a reminder. */
  set(type: string, key: string): void {
    this.#strike("a keeper dies before a firing", this.keeperOf(type, key))
  }

  /** A turn of this machine fires a reminder. */
  firing(type: string, key: string, machine: string): void {
    const keeper = this.keeperOf(type, key)
    this.#strike("a keeper dies during a firing", keeper)
    if (keeper !== machine) this.#strike(APART, keeper, machine)
  }

  /** The commit of a firing was made. */
  fired(type: string, key: string): void {
    this.#strike("a keeper dies after a firing", this.keeperOf(type, key))
  }

  #kept(ward: string, node: string): void {
    const stage = this.#stage
    const machine = this.#cluster.machines.find((one) => node.startsWith(`${stage.hostOf(one)}:`)) as string
    const before = this.#keepers.get(ward)
    this.#keepers.set(ward, machine)
    if (before !== undefined && before !== machine) this.onMoved(ward)
  }

  #strike(moment: Moment, keeper: string | undefined, actor?: string): void {
    const stage = this.#stage
    if (this.#armed !== moment || keeper === undefined || !stage.isUp(keeper)) return
    this.#armed = undefined
    stage.sometimes(moment)
    // A process cannot be ended in the midst of its own step.
    void stage.sleep(0).then(() => {
      if (actor === undefined) {
        if (stage.isUp(keeper)) crash(stage, keeper)
        return
      }
      const cuts = [stage.cut(keeper, actor), stage.cut(actor, keeper)]
      const lastsMs = stage.random.between(1, 3) * this.#cluster.settings.lease.ttlMs
      void stage.sleep(lastsMs).then(() => {
        for (const heal of cuts) heal()
      })
    })
  }
}

const APART = "a keeper and the actor that it fires are apart"
export const MOMENTS = [
  "a keeper dies before a firing",
  "a keeper dies during a firing",
  "a keeper dies after a firing",
  APART,
] as const
type Moment = (typeof MOMENTS)[number]

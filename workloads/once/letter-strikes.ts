import type { Stage } from "../../src/sim/index.js"
import type { Cluster } from "../cluster/cluster.js"
import { crash } from "../cluster/strikes.js"
import type { Letter } from "./letters.js"

/**
 * Kills nodes at moments of a letter that chance would rarely hit: the sender's when it is stored and not
 * delivered, or when it is delivered and not deleted; the receiver's when it is stored and not delivered.
 */
export class LetterStrikes {
  readonly #stage: Stage
  readonly #cluster: Cluster
  /** The life that made the last commit of each vault. */
  readonly #homes = new Map<string, string>()
  #armed: Moment | undefined

  constructor(stage: Stage, cluster: Cluster) {
    this.#stage = stage
    this.#cluster = cluster
  }

  /** The next such moment of any letter is used, if machines die at all. */
  arm(): void {
    if (this.#stage.faults.crash > 0) this.#armed ??= this.#stage.random.pick(MOMENTS)
  }

  disarm(): void {
    this.#armed = undefined
  }

  /** A commit was made of this vault. */
  stored(vault: string, by: string): void {
    this.#homes.set(vault, by)
  }

  sent({ from, to }: Letter, by: string): void {
    if (this.#armed === "a sender dies between commit and delivery") this.#kill(this.#homes.get(from))
    // Where both are on one node, it is the sender that dies.
    const receiver = this.#homes.get(to)
    if (this.#armed === "a receiver dies before delivery" && receiver !== by) this.#kill(receiver)
  }

  received({ from }: Letter): void {
    if (this.#armed === "a sender dies between delivery and deletion") this.#kill(this.#homes.get(from))
  }

  #kill(life: string | undefined): void {
    if (life === undefined || this.#armed === undefined || !this.#cluster.isAlive(life)) return
    this.#stage.sometimes(this.#armed)
    this.#armed = undefined
    // A process cannot be ended in the midst of its own step.
    void this.#stage.sleep(0).then(() => {
      if (this.#cluster.isAlive(life)) crash(this.#stage, life.split(".")[0] as string)
    })
  }
}

export const MOMENTS = [
  "a sender dies between commit and delivery",
  "a sender dies between delivery and deletion",
  "a receiver dies before delivery",
] as const
type Moment = (typeof MOMENTS)[number]

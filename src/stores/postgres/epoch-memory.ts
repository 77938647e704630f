import type { Revision } from "../../ports/store.js"
import type { Head } from "./rows.js"

/**
 * What this process has seen of the store. It goes with every request, so that a server that has less of the
 * epoch than this process has seen refuses it, and a new epoch begins above all revisions that were seen.
 */
export class EpochMemory {
  #epoch: string
  #lsn = 0
  #known: Revision = 0
  #highest: Revision = 0
  #witness: Witness | undefined

  constructor(epoch: string) {
    this.#epoch = epoch
  }

  get epoch(): string {
    return this.#epoch
  }

  /** The highest revision of the epoch that was read or acknowledged, and so is on the server's disk. */
  get known(): Revision {
    return this.#known
  }

  /** The last commit of this process in the epoch, which every later state of the store shows. */
  get witness(): Witness | undefined {
    return this.#witness
  }

  /** The highest revision of all epochs. */
  get highest(): Revision {
    return this.#highest
  }

  /** How much of the server's log was on its disk, as of the last answer in that epoch. */
  lsnOf(epoch: string): number {
    return epoch === this.#epoch ? this.#lsn : 0
  }

  /** Records an answer. */
  note({ epoch, lsn }: Pick<Head, "epoch" | "lsn">): void {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#lsn = 0
      this.#known = 0
      this.#witness = undefined
    }
    this.#lsn = Math.max(this.#lsn, lsn)
  }

  /** Records a key that this process has committed. */
  committed(epoch: string, witness: Witness): void {
    if (epoch === this.#epoch) this.#witness = witness
  }

  /** Records a revision that was read or acknowledged in an epoch. */
  saw(epoch: string, revision: Revision): void {
    this.#highest = Math.max(this.#highest, revision)
    if (epoch === this.#epoch) this.#known = Math.max(this.#known, revision)
  }
}

/** A key, and a revision that it had. */
export interface Witness {
  readonly key: string
  readonly revision: Revision
}

import type { Change, ClusterStore, Listing, Revision } from "../../src/ports/store.js"
import { listAll } from "../../src/registry/list-all.js"
import type { Life } from "../../src/sim/index.js"
import { text } from "./client.js"
import type { CommitLog } from "./commit-log.js"

/** A copy of all keys that is kept up to date by a watch, and made anew where there is a gap. */
export class Mirror {
  readonly #life: Life
  readonly #store: ClusterStore
  readonly #log: CommitLog
  #contents = new Map<string, { readonly value: string; readonly revision: Revision }>()
  #epoch = ""
  #revision = 0

  constructor(life: Life, store: ClusterStore, log: CommitLog) {
    this.#life = life
    this.#store = store
    this.#log = log
  }

  get contents(): string {
    return [...this.#contents]
      .map(([key, { value }]) => `${key}=${value}`)
      .sort()
      .join("; ")
  }

  async keep(): Promise<void> {
    const listing = await this.#listing()
    this.#contents = new Map(
      listing.entries.map((entry) => [entry.key, { value: text(entry) as string, revision: entry.revision }]),
    )
    this.#life.sometimes("a mirror sees an epoch end", this.#epoch !== "" && this.#epoch !== listing.epoch)
    this.#epoch = listing.epoch
    this.#revision = listing.revision
    let isOver = false
    const told = (what: string) =>
      this.#life.always("nothing is told after a gap", !isOver, () => `${this.#life.name} is told of ${what}`)
    this.#store.watch("wards/", listing, {
      changed: (changes) => {
        told("a change")
        this.#take(changes)
      },
      gap: () => {
        told("a gap")
        isOver = true
        this.#life.sometimes("a watch hears a gap")
        void this.keep()
      },
    })
  }

  #take(changes: readonly Change[]): void {
    const [{ revision } = { revision: 0 }] = changes
    const expected = this.#log.after(this.#epoch, this.#revision)
    const shown = changes.map(({ key }) => key).join(" ")
    this.#life.always(
      "a watch tells each commit once, whole and in order",
      expected?.revision === revision && expected.keys === shown,
      () =>
        `${this.#life.name} at ${this.#revision} in ${this.#epoch} is told of ${shown} at ${revision}, ` +
        `and next is ${expected?.keys} at ${expected?.revision}`,
    )
    this.#revision = revision
    for (const { key, value } of changes) {
      const isOld = (this.#contents.get(key)?.revision ?? 0) >= revision
      this.#life.sometimes("a watch repeats what a listing has shown", isOld)
      if (isOld) continue
      if (value === undefined) this.#contents.delete(key)
      else this.#contents.set(key, { value: Buffer.from(value).toString(), revision })
    }
    this.#life.sometimes("a watch tells of a change")
  }

  async #listing(): Promise<Listing> {
    for (;;) {
      try {
        return await listAll(this.#store, "wards/")
      } catch {
        await new Promise<void>((resolve) => {
          this.#life.ports.clock.setTimer(100, resolve)
        })
      }
    }
  }
}

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Installation, type InstallOptions, install } from "./installation.js"
import type { Peer } from "./peer.js"

/**
 * Where the peers of one run are: each in a folder of its own, so that one that cannot be had does not take
 * others along, and only once a row wants it. All of it is gone with `remove`, or else with the process,
 * however that is asked to end.
 */
export class PeerFolder {
  readonly #options: InstallOptions
  readonly #installed = new Map<Peer, Promise<Installation>>()
  #root: string | undefined

  constructor(options: InstallOptions) {
    this.#options = options
  }

  /** The second time it is known how the first one ended. */
  install(peer: Peer): Promise<Installation> {
    const known = this.#installed.get(peer)
    if (known !== undefined) return known
    const installing = install(peer, join(this.#rootFolder(), peer.name), this.#options)
    this.#installed.set(peer, installing)
    return installing
  }

  readonly remove = (): void => {
    process.off("exit", this.remove)
    // npm may have been killed a moment ago, and be at it still.
    if (this.#root !== undefined) rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 })
    this.#root = undefined
  }

  #rootFolder(): string {
    if (this.#root === undefined) {
      this.#root = mkdtempSync(join(tmpdir(), "troupe-peers-"))
      process.once("exit", this.remove)
    }
    return this.#root
  }
}

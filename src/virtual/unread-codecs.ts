import type { LimitedLogger } from "../actor/limited-logger.js"
import type { Published } from "../registry/published.js"
import type { StateCodecs } from "../registry/state-codecs.js"

/**
 * Warns of nodes that cannot read what this node writes: the first of the two rollouts that change a codec
 * has not reached them. The nodes go on, and actors that are saved here cannot start there.
 */
export class UnreadCodecs {
  readonly #codecs: StateCodecs
  readonly #logger: Pick<LimitedLogger, "log">
  readonly #warned = new Set<string>()

  constructor(codecs: StateCodecs, logger: Pick<LimitedLogger, "log">) {
    this.#codecs = codecs
    this.#logger = logger
  }

  /** The records of nodes have changed. */
  look(published: Published, types: Iterable<string>): void {
    const codec = this.#codecs.newFormat
    if (codec === undefined) return
    for (const type of types) {
      for (const node of published.cannotRead(type, codec)) {
        if (this.#warned.has(node)) continue
        this.#warned.add(node)
        this.#logger.log(
          "warn",
          "a node cannot read the codec of saved states; add it to stateCodecs.read there",
          {
            node,
            codec,
            type,
          },
        )
      }
    }
  }
}

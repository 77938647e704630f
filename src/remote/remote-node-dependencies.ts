import type { EventStream } from "../actor/event-stream.js"
import type { Clock } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { MemberLink } from "./member-link.js"
import type { MessageCodec } from "./message-codec.js"
import type { RemoteNode } from "./remote-node.js"

/** What the relation with another node needs. */
export interface RemoteNodeDependencies {
  readonly clock: Clock
  readonly logger: Logger
  /** Rate-limited, for entries that peers can cause at will. */
  readonly limited: Pick<Logger, "log">
  readonly events: EventStream
  readonly codec: MessageCodec
  readonly deferredCapacity: number
  readonly outboundBytes: number
  /** Whether nodes use TLS. */
  readonly isTls: boolean
  /** Undefined without membership. */
  link(): MemberLink | undefined
  nextCorrelation(): number
  mayDial(authority: string): boolean
  /** Begins to connect, and reports the outcome to the node. The returned function cancels the dial. */
  dial(node: RemoteNode): () => void
  forget(node: RemoteNode): void
  quarantined(node: RemoteNode): void
}

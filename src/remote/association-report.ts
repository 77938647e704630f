import type { EventStream } from "../actor/event-stream.js"
import type { NodeId } from "../address/node-id.js"
import type { Logger } from "../ports/logger.js"
import {
  AssociationConnected,
  AssociationFailed,
  AssociationLost,
  AssociationQuarantined,
} from "./association-events.js"
import type { AssociationCommand } from "./association-protocol.js"
import { adviceFor, type DisconnectReason } from "./disconnect-reason.js"

/** Logs and publishes the events of an association; a lasting problem is logged once. */
export class AssociationReport {
  readonly #authority: string
  readonly #options: ReportOptions
  /** The problem that was last logged. */
  #trouble: DisconnectReason | undefined

  constructor(authority: string, options: ReportOptions) {
    this.#authority = authority
    this.#options = options
  }

  connected(node: NodeId): void {
    this.#trouble = undefined
    this.#options.logger.log("info", "connected to a node", { peer: node.toString() })
    this.#options.events.publish(new AssociationConnected(this.#authority, node))
  }

  lost(node: NodeId, because: DisconnectReason): void {
    this.#logLoss(node.toString(), because)
    this.#options.events.publish(new AssociationLost(this.#authority, node, because))
  }

  /** An expected failure is published and not logged. */
  failed(because: DisconnectReason, attempts: number, isExpected: boolean): void {
    if (because !== this.#trouble && !isExpected) {
      this.#trouble = because
      this.#options.limited.log("warn", "cannot connect to a node; will retry", {
        authority: this.#authority,
        reason: because,
        advice: adviceFor(because, this.#options),
      })
    }
    this.#options.events.publish(new AssociationFailed(this.#authority, because, attempts))
  }

  quarantined({
    node,
    because,
    durationMs,
  }: Extract<AssociationCommand<never>, { kind: "quarantined" }>): void {
    const authority = this.#authority
    const peer = node?.toString()
    this.#options.logger.log("error", "node quarantined", {
      authority,
      peer,
      reason: because,
      durationMs,
    })
    this.#options.events.publish(new AssociationQuarantined(authority, node, because, durationMs))
  }

  #logLoss(peer: string, reason: DisconnectReason): void {
    const { logger } = this.#options
    if (reason === "stopping")
      return logger.log("debug", "disconnected from a node: this node is stopping", { peer })
    if (reason === "reincarnated")
      return logger.log("debug", "disconnected from a node: this node is a new incarnation", { peer })
    if (reason === "left") return logger.log("info", "a node has stopped", { peer })
    const advice = adviceFor(reason, this.#options)
    logger.log("warn", "lost the connection with a node", { peer, reason, advice })
  }
}

interface ReportOptions {
  readonly logger: Logger
  /** Rate-limited, for entries that peers can cause at will. */
  readonly limited: Pick<Logger, "log">
  readonly events: EventStream
  /** Whether nodes use TLS. */
  readonly isTls: boolean
}

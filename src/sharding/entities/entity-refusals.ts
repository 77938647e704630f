import type { ActorEnvironment } from "../../actor/actor-environment.js"
import type { ActorPath } from "../../address/actor-path.js"
import { PlacementError } from "../../errors/actor-call-errors.js"
import { ActorStoppedError, OverloadedError } from "../../errors/call-errors.js"
import type { Refusal } from "./entity-host.js"
import type { EntityMessage } from "./entity-message.js"
import { segmentOfEntity } from "./entity-name.js"
import { ShardBufferOverflowed } from "./sharding-events.js"

/** Why the region of a type takes no message, and the end of one that is refused. */
export class EntityRefusals {
  readonly #typeKey: string
  readonly #environment: ActorEnvironment
  /** The path under which the entities of the type are. */
  readonly #parent: ActorPath

  constructor(typeKey: string, environment: ActorEnvironment, root: ActorPath) {
    this.#typeKey = typeKey
    this.#environment = environment
    this.#parent = root.child(segmentOfEntity(typeKey))
  }

  pathOf(entityId: string): ActorPath {
    return this.#parent.child(segmentOfEntity(entityId))
  }

  stopped(message: EntityMessage): Refusal {
    return { reason: "stopped", error: new ActorStoppedError(`${message}`, "not-delivered") }
  }

  notHere(message: EntityMessage): Refusal {
    const detail = `this node does not host its shard ${message.shard}; try again`
    return { reason: "not-here", error: new PlacementError(`${message}`, "not-here", detail) }
  }

  /** The buffer of the region is full; `isFirst` for the first message that finds it so. */
  full(message: EntityMessage, capacity: number, isFirst: boolean): Refusal {
    const type = this.#typeKey
    const { shard } = message
    if (isFirst) {
      const { logger, events } = this.#environment
      logger.log("warn", "too many messages wait for the homes of their shards; later ones are refused", {
        type,
        shard,
        capacity,
      })
      events.publish(new ShardBufferOverflowed(type, shard, capacity))
    }
    const error = new OverloadedError(`${message}`, capacity, "messages waiting for shards", {
      of: "node",
    })
    return { reason: "shard-buffer-full", error }
  }

  /** Fails the ask, or adds the message to dead letters. */
  refuse({ entityId, message, reply }: EntityMessage, { reason, error }: Refusal): void {
    if (reply !== undefined) return reply.fail(error)
    this.#environment.deadLetters.add(message, { path: this.pathOf(entityId) }, reason)
  }
}

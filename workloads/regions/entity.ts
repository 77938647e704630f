import { type ActorRef, type Behavior, Behaviors, type EntityContext, PostStop } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"
import type { RegionEvent } from "./events.js"
import type { Terms } from "./terms.js"

export interface Order {
  readonly sender: string
  readonly place: number
  /** Of a question. */
  readonly replyTo?: ActorRef<string>
}

/** The behavior of an entity that records what it does, and takes its time for it. */
export function orderTaker({ life, terms, next, nodeOf, lastTurnMs }: OrderTakerDependencies) {
  const record = (event: RegionEvent) => life.record({ ...event })
  return (entity: EntityContext<Order, string>): Behavior<Order> =>
    Behaviors.setup(() => {
      const { entityId } = entity
      const number = next()
      const chance = () => life.ports.random.uint32() / 2 ** 32
      const waitMs = (most: number) =>
        new Promise<void>((resolve) => void life.ports.clock.setTimer(most * chance(), resolve))
      record({ kind: "entity-started", entity: entityId, life: life.name, node: nodeOf(), number })
      return Behaviors.receive(
        async (_context, { sender, place, replyTo }) => {
          record({ kind: "message-handled", entity: entityId, node: nodeOf(), sender, place })
          if (terms.turnMs > 0) await waitMs(terms.turnMs)
          replyTo?.tell(entityId)
          if (chance() < terms.passivates) entity.passivate()
          return Behaviors.same
        },
        async (_context, signal) => {
          if (!(signal instanceof PostStop)) return Behaviors.unhandled
          if (lastTurnMs() > 0) await waitMs(lastTurnMs())
          record({ kind: "entity-ended", entity: entityId, number })
          return Behaviors.same
        },
      )
    })
}

interface OrderTakerDependencies {
  readonly life: Life
  readonly terms: Terms
  /** Returns a number that no other incarnation of the run has. */
  next(): number
  /** How long the last turn of an entity may take now. */
  lastTurnMs(): number
  /** The current id of the node. */
  nodeOf(): string
}

import type { ActorContext } from "./actor-context.js"
import {
  type Behavior,
  Deferred,
  type MaybePromise,
  type OnMessage,
  type OnSignal,
  Receive,
  Supervised,
  same,
  stopped,
  unhandled,
} from "./behavior.js"
import type { StashBuffer } from "./stash.js"
import { checkSupervision, type SupervisionOptions } from "./supervision.js"
import type { Timers } from "./timers.js"

/**
 * Creates behaviors.
 *
 * @example
 * import { Behaviors, type Behavior } from "troupe"
 *
 * function counter(count: number): Behavior<"increment"> {
 *   return Behaviors.receive((context) => {
 *     context.log.log("info", "counted", { count: count + 1 })
 *     return counter(count + 1)
 *   })
 * }
 */
export const Behaviors = {
  /** Handles messages one at a time, whether the handler is sync or async, and optionally signals. */
  receive<M>(onMessage: OnMessage<M>, onSignal?: OnSignal<M>): Behavior<M> {
    return new Receive(onMessage, onSignal)
  },

  /** Creates the behavior when the actor starts, and again on every restart. */
  setup<M>(make: (context: ActorContext<M>) => MaybePromise<Behavior<M>>): Behavior<M> {
    return new Deferred<M>((context) => make(context))
  },

  /** Provides the behavior with timers, which are cancelled when the actor stops or restarts. */
  withTimers<M>(
    make: (timers: Timers<M>, context: ActorContext<M>) => MaybePromise<Behavior<M>>,
  ): Behavior<M> {
    return new Deferred<M>((context, resources) => make(resources.timers, context))
  },

  /** Provides the behavior with a stash of `capacity` messages, for messages that it cannot handle yet. */
  stash<M>(
    capacity: number,
    make: (stash: StashBuffer<M>, context: ActorContext<M>) => MaybePromise<Behavior<M>>,
  ): Behavior<M> {
    return new Deferred<M>((context, resources) => make(resources.stash(capacity), context))
  },

  /**
   * Sets what happens when `behavior` throws. Without it, an actor that throws is stopped. If nested, the
   * innermost rule that matches the error decides.
   */
  supervise<M>(behavior: Behavior<M>, options: SupervisionOptions): Behavior<M> {
    checkSupervision(options)
    return new Supervised(behavior, options)
  },

  /** Keeps the current behavior. */
  same: same as Behavior<unknown>,
  /** Stops this actor, after its children. */
  stopped: stopped as Behavior<unknown>,
  /** Keeps the current behavior, and sends the message to dead letters. */
  unhandled: unhandled as Behavior<unknown>,
} as const

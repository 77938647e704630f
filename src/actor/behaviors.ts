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
 * The ways to say what an actor does.
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
  /** Handles messages, one at a time, whether the handler is sync or async; and signals, if asked for. */
  receive<M>(onMessage: OnMessage<M>, onSignal?: OnSignal<M>): Behavior<M> {
    return new Receive(onMessage, onSignal)
  },

  /** Makes the behavior when the actor starts, and again whenever it restarts. */
  setup<M>(make: (context: ActorContext<M>) => MaybePromise<Behavior<M>>): Behavior<M> {
    return new Deferred<M>((context) => make(context))
  },

  /** Gives the behavior timers that end with the actor. */
  withTimers<M>(
    make: (timers: Timers<M>, context: ActorContext<M>) => MaybePromise<Behavior<M>>,
  ): Behavior<M> {
    return new Deferred<M>((context, tools) => make(tools.timers, context))
  },

  /** Gives the behavior a place to put messages that it cannot handle yet. */
  stash<M>(
    capacity: number,
    make: (stash: StashBuffer<M>, context: ActorContext<M>) => MaybePromise<Behavior<M>>,
  ): Behavior<M> {
    return new Deferred<M>((context, tools) => make(tools.stash(capacity), context))
  },

  /**
   * Says what happens when `behavior` throws. Without it, an actor that throws is stopped. Nested, the
   * innermost that matches the error decides.
   */
  supervise<M>(behavior: Behavior<M>, options: SupervisionOptions): Behavior<M> {
    checkSupervision(options)
    return new Supervised(behavior, options)
  },

  /** Go on with the same behavior. */
  same: same as Behavior<unknown>,
  /** Stop this actor, children first. */
  stopped: stopped as Behavior<unknown>,
  /** Go on with the same behavior, and send the message to dead letters. */
  unhandled: unhandled as Behavior<unknown>,
} as const

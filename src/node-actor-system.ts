import { nodePorts } from "./runtime/node-ports.js"
import type { WireType } from "./serialization/type-registry.js"
import { memoryStore } from "./stores/memory-store.js"
import { ActorSystem as System } from "./system/actor-system.js"
import type { ActorSystemSettings } from "./system/settings.js"
import type { StartOptions } from "./system/start-options.js"
import type { RegisteredActor } from "./virtual/provide.js"

/**
 * A running system of actors. An interface has a name of its own, by which the declarations of a program that
 * exports a system can refer to it; an alias has not.
 */
export interface ActorSystem extends System {}

/**
 * Starts systems of actors on Node's clock, network and randomness.
 *
 * @example
 * import { ActorSystem, type ActorRef, Behaviors } from "troupe"
 *
 * type Greet = { name: string; replyTo: ActorRef<string> }
 * const greeter = Behaviors.receive<Greet>((_context, message) => {
 *   message.replyTo.tell(`hello ${message.name}`)
 *   return Behaviors.same
 * })
 *
 * const system = await ActorSystem.start({ namespace: "prod" })
 * const ref = system.spawn(greeter, "greeter")
 * const answer: string = await system.ask(ref, (replyTo) => ({ name: "ada", replyTo }), { timeoutMs: 1_000 })
 * await system.stop()
 */
export const ActorSystem = {
  /**
   * Starts a system. Waits for the store for up to `joinMs`, and logs that it does; by seeds, until the node
   * is up. Rejects with a `SettingsError` that names the field if a setting is invalid, with a
   * `StoreUnavailableError` or a `NodeUnreachableError` that says what it waited for, and with the reason of
   * the signal.
   */
  start<
    const Classes extends readonly RegisteredActor[] = readonly [],
    const Types extends readonly WireType[] = readonly [],
  >(settings: ActorSystemSettings<Classes, Types>, options: StartOptions = {}): Promise<ActorSystem> {
    const { logger, telemetry } = settings
    return System.start(
      settings as ActorSystemSettings,
      nodePorts({
        ...(logger === undefined ? {} : { logger }),
        ...(telemetry === undefined ? {} : { telemetry }),
      }),
      { ...options, privateStore: memoryStore() },
    )
  },
} as const

import { StoreUnavailableError } from "../errors/store-errors.js"
import type { WireType } from "../serialization/type-registry.js"
import { memoryStore } from "../stores/memory-store.js"
import { ActorSystem } from "../system/actor-system.js"
import type { ActorSystemSettings } from "../system/settings.js"
import type { RegisteredActor } from "../virtual/provide.js"
import { captureCaller, linkToCall } from "./ambient/user-frame.js"
import type { Life } from "./world.js"

/** Starts a production actor system on the clock, network and random source of a simulated process. */
export function startSystem<
  const Classes extends readonly RegisteredActor[] = readonly [],
  const Types extends readonly WireType[] = readonly [],
>(life: Life, settings: ActorSystemSettings<Classes, Types>): Promise<ActorSystem> {
  const { logger = life.ports.logger, telemetry = life.ports.telemetry } = settings
  const call = captureCaller(startSystem)
  return ActorSystem.start(
    settings as ActorSystemSettings,
    { ...life.ports, logger, telemetry },
    { privateStore: memoryStore() },
  ).catch((error) => {
    const failure = error instanceof StoreUnavailableError ? withAdvice(error) : error
    linkToCall(failure, call)
    throw failure
  })
}

/** A start that the store fails is the first failure that most workloads meet. */
function withAdvice(error: StoreUnavailableError): StoreUnavailableError {
  const { message, commitment, problem } = error
  const advised = `${message}; the system has not started: retry startSystem until it resolves`
  return new StoreUnavailableError(advised, commitment, { problem, cause: error })
}

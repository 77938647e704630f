import { StoreUnavailableError } from "../errors/store-errors.js"
import { memoryStore } from "../stores/memory-store.js"
import { ActorSystem } from "../system/actor-system.js"
import type { ActorSystemSettings } from "../system/settings.js"
import { captureCaller, linkToCall } from "./ambient/user-frame.js"
import type { Life } from "./world.js"

/** Starts a production actor system on the clock, network and random source of a simulated process. */
export function startSystem(life: Life, settings: ActorSystemSettings): Promise<ActorSystem> {
  const { logger = life.ports.logger, telemetry = life.ports.telemetry } = settings
  const call = captureCaller(startSystem)
  return ActorSystem.start(settings, { ...life.ports, logger, telemetry }, memoryStore()).catch((error) => {
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

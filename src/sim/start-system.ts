import { memoryStore } from "../stores/memory-store.js"
import { ActorSystem } from "../system/actor-system.js"
import type { ActorSystemSettings } from "../system/settings.js"
import type { Life } from "./world.js"

/**
 * A system of actors on the clock, network and chance of a simulated process: the same code as everywhere
 * else.
 */
export function startSystem(life: Life, settings: ActorSystemSettings): Promise<ActorSystem> {
  const { logger = life.ports.logger, telemetry = life.ports.telemetry } = settings
  return ActorSystem.start(settings, { ...life.ports, logger, telemetry }, memoryStore())
}

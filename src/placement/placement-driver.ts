import type { ActorId } from "../address/actor-id.js"
import type { Clock } from "../ports/clock.js"
import type { CoordinatorEvent } from "./coordinator-event.js"
import type { PlacementCommand } from "./placement-command.js"
import type { PlacementCoordinator } from "./placement-coordinator.js"
import type { PlacementEvent } from "./placement-log.js"
import type { ActivationExecutor, ActivationStorage, PlacementLock } from "./placement-ports.js"
import type { Answer, PlacementWish } from "./resolution.js"

/** Does what a placement coordinator says, and tells it what came of it. */
export class PlacementDriver<Stored> {
  readonly #coordinator: PlacementCoordinator<Stored>
  readonly #tools: PlacementDriverTools<Stored>
  readonly #waiters = new Map<number, (answer: Answer) => void>()

  constructor(coordinator: PlacementCoordinator<Stored>, tools: PlacementDriverTools<Stored>) {
    this.#coordinator = coordinator
    this.#tools = tools
  }

  /** `settled` may be called before this returns. */
  resolve(id: ActorId, wish: PlacementWish, settled: (answer: Answer) => void): void {
    const resolution = this.#coordinator.resolve(id, this.#tools.clock.monotonicMs(), wish)
    if (resolution.kind !== "pending") return settled(resolution)
    this.#waiters.set(resolution.waiter, settled)
    this.#do(resolution.commands)
  }

  handle(event: CoordinatorEvent<Stored>): void {
    const now = this.#tools.clock.monotonicMs()
    const commands = this.#coordinator.handle(event, now)
    for (const happened of this.#coordinator.drainEvents(now)) this.#tools.happened(happened)
    this.#do(commands)
  }

  #do(commands: readonly PlacementCommand<Stored>[]): void {
    for (const command of commands) {
      if (command.kind !== "settle") {
        void this.#step(command).then((event) => this.handle(event))
        continue
      }
      const settled = this.#waiters.get(command.waiter)
      this.#waiters.delete(command.waiter)
      settled?.(command.answer)
    }
  }

  async #step(
    command: Exclude<PlacementCommand<Stored>, { kind: "settle" }>,
  ): Promise<CoordinatorEvent<Stored>> {
    const { lock, storage, executor } = this.#tools
    const { request, id } = command
    switch (command.kind) {
      case "try-acquire": {
        const result = await lock.tryAcquire(id)
        if (result.kind !== "acquired") return { kind: "acquire-denied", request, because: result }
        return { kind: "acquired", request, generation: result.generation, stored: result.stored }
      }
      case "look-up":
        try {
          return { kind: "looked-up", request, found: await storage.lookUp(id) }
        } catch (error) {
          return { kind: "looked-up", request, found: { kind: "failed", detail: (error as Error).message } }
        }
      case "ensure-activation":
        try {
          await executor.ensureActivation(id, command.generation, command.stored)
          return { kind: "activation-ready", request }
        } catch (cause) {
          return { kind: "activation-failed", request, cause }
        }
      case "release":
        try {
          await executor.endActivation(id, command.generation)
          await lock.release(id, command.generation)
          return { kind: "released", request }
        } catch (error) {
          return { kind: "release-failed", request, detail: (error as Error).message }
        }
    }
  }
}

export interface PlacementDriverTools<Stored> {
  readonly clock: Clock
  readonly lock: PlacementLock<Stored>
  readonly storage: ActivationStorage
  readonly executor: ActivationExecutor<Stored>
  happened(event: PlacementEvent): void
}

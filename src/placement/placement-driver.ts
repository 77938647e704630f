import type { ActorId } from "../address/actor-id.js"
import { messageOf } from "../errors/thrown.js"
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

  /** Chains rather than an async function: this is done for every actor that starts, and the frame of one is large. */
  #step(command: Exclude<PlacementCommand<Stored>, { kind: "settle" }>): Promise<CoordinatorEvent<Stored>> {
    const { lock, storage, executor } = this.#tools
    const { request, id } = command
    switch (command.kind) {
      case "try-acquire":
        return lock
          .tryAcquire(id)
          .then((result) =>
            result.kind === "acquired"
              ? { kind: "acquired", request, generation: result.generation, stored: result.stored }
              : { kind: "acquire-denied", request, because: result },
          )
      case "look-up":
        return storage.lookUp(id).then(
          (found) => ({ kind: "looked-up", request, found }),
          (error: unknown) => ({
            kind: "looked-up",
            request,
            found: { kind: "failed", detail: detailOf(error) },
          }),
        )
      case "ensure-activation":
        return executor.ensureActivation(id, command.generation, command.stored).then(
          () => ({ kind: "activation-ready", request }),
          (cause: unknown) => ({ kind: "activation-failed", request, cause }),
        )
      case "release":
        return executor
          .endActivation(id, command.generation)
          .then(() => lock.release(id, command.generation))
          .then(
            () => ({ kind: "released", request }),
            (error: unknown) => ({ kind: "release-failed", request, detail: detailOf(error) }),
          )
    }
  }
}

function detailOf(error: unknown): string {
  return messageOf(error)
}

export interface PlacementDriverTools<Stored> {
  readonly clock: Clock
  readonly lock: PlacementLock<Stored>
  readonly storage: ActivationStorage
  readonly executor: ActivationExecutor<Stored>
  happened(event: PlacementEvent): void
}

import type { ActorEnvironment } from "./actor-environment.js"
import { ActorAbandoned, ActorFailed } from "./actor-events.js"
import type { LocalRef } from "./local-ref.js"
import { type Decision, decide, type Supervisor } from "./supervision.js"

/**
 * Decides what happens to an actor that failed. If supervision throws, the actor stops; so does an actor
 * without a behavior yet (`isStarting`) that would be resumed.
 */
export function decideOn(
  error: unknown,
  { environment, ref }: FailedActor,
  supervisor: Supervisor | undefined,
  isStarting: boolean,
): Decision {
  const { clock, random, logger } = environment
  try {
    const decision = decide(supervisor, error, clock.monotonicMs(), () => random.uint32() / 2 ** 32)
    if (decision.kind !== "resume" || !isStarting) return decision
    return { kind: "stop", because: "it failed before it had a behavior to resume" }
  } catch (cause) {
    logger.log("error", "the supervision of an actor threw", { actor: ref, error: cause })
    return { kind: "stop", because: "its supervision threw as well" }
  }
}

/** Logs and publishes a failure, and the decision about it. */
export function reportFailure(
  error: unknown,
  { environment, ref }: FailedActor,
  decision: Decision["kind"],
  because: string | undefined,
): void {
  const level = decision === "resume" || decision === "restart" ? "warn" : "error"
  environment.logger.log(level, "an actor failed", { actor: ref, error, decision, because })
  environment.events.publish(new ActorFailed(ref.path, error, decision, because))
}

/** Logs and publishes that a handler did not finish in time. */
export function reportAbandoned({ environment, ref }: FailedActor): void {
  environment.logger.log("error", "a handler did not finish in time; its actor is abandoned", { actor: ref })
  environment.events.publish(new ActorAbandoned(ref.path))
}

interface FailedActor {
  readonly environment: ActorEnvironment
  readonly ref: LocalRef<never>
}

import { ActorAbandoned, ActorFailed } from "./actor-events.js"
import type { LocalRef } from "./local-ref.js"
import type { Realm } from "./realm.js"
import { type Decision, decide, type Supervisor } from "./supervision.js"

/**
 * Decides what happens to an actor that failed. Supervision that throws stops the actor, and so does one that
 * would resume an actor that is `unborn`, without a behavior yet.
 */
export function decideOn(
  error: unknown,
  { realm, ref }: FailedActor,
  supervisor: Supervisor | undefined,
  unborn: boolean,
): Decision {
  const { clock, random, logger } = realm
  try {
    const decision = decide(supervisor, error, clock.monotonicMs(), () => random.uint32() / 2 ** 32)
    if (decision.kind !== "resume" || !unborn) return decision
    return { kind: "stop", because: "it failed before it had a behavior to go on with" }
  } catch (cause) {
    logger.log("error", "the supervision of an actor threw", { actor: ref, error: cause })
    return { kind: "stop", because: "its supervision threw as well" }
  }
}

/** Logs and publishes a failure, and what is done about it. */
export function reportFailure(
  error: unknown,
  { realm, ref }: FailedActor,
  decision: Decision["kind"],
  because: string | undefined,
): void {
  const level = decision === "resume" || decision === "restart" ? "warn" : "error"
  realm.logger.log(level, "an actor failed", { actor: ref, error, decision, because })
  realm.events.publish(new ActorFailed(ref.path, error, decision, because))
}

/** Logs and publishes that a handler did not end in time. */
export function reportAbandoned({ realm, ref }: FailedActor): void {
  realm.logger.log("error", "a handler did not end in time; its actor is left behind", { actor: ref })
  realm.events.publish(new ActorAbandoned(ref.path))
}

interface FailedActor {
  readonly realm: Realm
  readonly ref: LocalRef<never>
}

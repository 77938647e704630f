import type { DeadLetters } from "../actor/dead-letters.js"
import type { Recent } from "../actor/recent.js"
import type { StoreTroubles } from "../registry/store-troubles.js"
import type { ActorTrouble, ActorTroubles } from "../virtual/actor-troubles.js"
import type { TroubleKind, TroubleSnapshot } from "./snapshot.js"

/** The latest troubles of a system, of each kind the oldest first. */
export function troublesOf({ deadLetters, actors, store }: ObservedTroubles): readonly TroubleSnapshot[] {
  const ofActors = (kind: TroubleKind, recent: Recent<ActorTrouble> | undefined) =>
    listed(kind, recent, (one) => one)
  return [
    ...ofActors("failed-turn", actors?.failedTurns),
    ...ofActors("overdue-turn", actors?.overdueTurns),
    ...ofActors("failed-start", actors?.failedStarts),
    ...listed("refused-save", store?.refusedSaves, ({ at, id, because }) => ({
      at,
      actor: id.name,
      text: because,
    })),
    ...ofActors("stuck-message", actors?.stuckMessages),
    ...ofActors("late-reminder", actors?.lateReminders),
    ...listed("dead-letter", deadLetters.latest, ({ at, to, kind, reason }) => ({
      at,
      actor: String(to),
      method: kind,
      code: reason,
      text: `a message was not handled: ${reason}`,
    })),
  ]
}

interface ObservedTroubles {
  readonly deadLetters: DeadLetters
  readonly actors: ActorTroubles | undefined
  readonly store: StoreTroubles | undefined
}

function listed<T>(
  kind: TroubleKind,
  recent: Recent<T> | undefined,
  shown: (one: T) => Pick<ActorTrouble, "at" | "actor" | "text"> & Partial<ActorTrouble>,
): readonly TroubleSnapshot[] {
  if (recent === undefined) return []
  const all = recent.all()
  const first = recent.total - all.length + 1
  return all.map((one, index) => {
    const { at, actor, method, code, text, chain = [] } = shown(one)
    return { kind, number: first + index, at, actor, method, code, text, chain }
  })
}

import type { Turn } from "./turn.js"
import type { TurnOwner } from "./turn-owner.js"
import type { Failure } from "./turn-result.js"

/**
 * Counts the failure of a turn. Logs that of a one-way call, which has no caller to report it to; timers and
 * watches report their own failures.
 */
export function noteFailure({ type, home, tenure }: TurnOwner, turn: Turn, { error }: Failure): void {
  const { method, name, invocation } = turn
  type.figures.errors.add(error)
  home.troubles.turnFailed(tenure.id, name, error)
  if (method === undefined || !invocation.isOneWay) return
  home.logger.log("warn", "a one-way call failed", { actor: tenure.id.name, method: method.name, error })
}

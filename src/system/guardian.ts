import type { ActorEnvironment } from "../actor/actor-environment.js"
import { Behaviors } from "../actor/behaviors.js"
import { Cell } from "../actor/cell.js"

/**
 * Creates a guardian, the root of a tree of actors. It resumes after an error that is escalated to it: that
 * has been reported.
 */
export function guardian(environment: ActorEnvironment, name: "user" | "system"): Cell {
  const cell = new Cell(environment, undefined, name)
  cell.begin(
    Behaviors.supervise(
      Behaviors.receive(() => Behaviors.unhandled),
      { strategy: "resume" },
    ),
  )
  return cell
}

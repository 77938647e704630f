import type { ActorSystem } from "../../src/index.js"
import { Remoting } from "../../src/remote/remoting.js"

/**
 * The remoting inside of a system that listens, for what no program does by hand, such as going on as another
 * incarnation. A system shows it to nobody; but it asks it about every association, and then it can be seen.
 */
export function remotingOf(system: ActorSystem): Remoting {
  const { state } = Remoting.prototype
  let seen: Remoting | undefined
  Remoting.prototype.state = function (authority) {
    seen = this
    return state.call(this, authority)
  }
  try {
    system.association("")
  } finally {
    Remoting.prototype.state = state
  }
  return seen as Remoting
}

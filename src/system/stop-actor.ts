import type { ActorRef } from "../actor/actor-ref.js"
import { internal } from "../actor/internal-ref.js"
import { LocalRef } from "../actor/local-ref.js"
import { RemoteRef } from "../remote/remote-ref.js"

/** Stops an actor of this node. Resolves once the actor and its children have stopped. */
export function stopActor(ref: ActorRef<never>): Promise<void> {
  const target = internal(ref).current()
  if (target instanceof RemoteRef) {
    throw new TypeError(`${target} is on another node; only that node can stop it`)
  }
  return new Promise((resolve) => {
    target.addWatcher({ terminated: () => resolve() })
    if (target instanceof LocalRef) target.cell.stop()
  })
}

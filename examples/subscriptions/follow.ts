import { type ActorSystem, Behaviors, oneWay } from "troupe"
import { type Notice, Topic } from "./topic.js"

/** A topic that could not reach a subscriber's node for a while has dropped it, so subscriptions are renewed. */
export const RENEW_EVERY_MS = 20_000

/** Calls `onNotice` for what is published, until the returned function is called. */
export async function follow(
  system: ActorSystem,
  { topic, name }: { readonly topic: string; readonly name: string },
  onNotice: (notice: Notice) => void,
): Promise<() => Promise<void>> {
  const listener = Behaviors.receive<Notice>((_context, notice) => {
    onNotice(notice)
    return Behaviors.same
  })
  const ref = system.spawn(listener)
  const handle = system.actor(Topic, topic)
  await handle.subscribe(name, ref)
  const renewal = setInterval(() => oneWay(handle).subscribe(name, ref), RENEW_EVERY_MS)
  return async () => {
    clearInterval(renewal)
    await handle.unsubscribe(name)
    await system.stopActor(ref)
  }
}

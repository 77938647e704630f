import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { type Actor, internals } from "./actor.js"
import type { ActorMethod } from "./actor-type.js"
import { UNDELIVERED, UndeliveredTask } from "./undelivered-task.js"

/**
 * Makes an actor go on with what it has left to do: its argument is the name of a due entry. A call of it
 * starts the actor, which is all that an actor with undelivered messages needs.
 */
export const WAKE = "~wake"

/** The methods that every actor has beside those of its class. The names of methods of users have no `~`. */
export const INTERNAL_METHODS: ReadonlyMap<string, ActorMethod> = new Map([
  [
    WAKE,
    internalMethod(WAKE, { flags: READ_ONLY | ALWAYS_INTERLEAVE }, (actor, name) => {
      internals.context(actor).wake(name)
    }),
  ],
  [
    UNDELIVERED,
    internalMethod(UNDELIVERED, { once: { retainMs: 0 } }, (actor, task) => {
      if (!(task instanceof UndeliveredTask)) throw new TypeError(`${UNDELIVERED} is not for callers`)
      internals.context(actor).messageEnded(task.number)
      return internals.onUndelivered(actor, task.message)
    }),
  ],
])

function internalMethod(
  name: string,
  { flags = 0, once }: { readonly flags?: number; readonly once?: ActorMethod["once"] },
  run: (actor: Actor, argument: unknown) => unknown,
): ActorMethod {
  return {
    name,
    run(this: unknown, argument: unknown) {
      return run(this as Actor, argument)
    },
    flags,
    tag: 0,
    once,
    timeoutMs: undefined,
    input: undefined,
  }
}

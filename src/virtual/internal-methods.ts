import type { ActorId } from "../address/actor-id.js"
import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { type Actor, internals } from "./actor.js"
import type { ActorHost } from "./actor-host.js"
import type { ActorMethod } from "./actor-type.js"
import { EXPIRATION, EXPIRY, TOMBSTONE } from "./due-entry.js"
import { AGAIN, HOLD, LET_GO } from "./held-start.js"
import { OutgoingCall } from "./outgoing-call.js"
import { UNDELIVERED, UndeliveredTask } from "./undelivered-task.js"

// Methods that every actor with a stored state has, and that only the runtime calls: their names begin with
// `~`. Handles refuse such names.

/** Fires a reminder: its name as in the index, its scheduled time, and the number of the attempt. */
export const REMIND = "~remind"

/**
 * Makes an actor go on with what it has left to do: the name of its entry in the index. A call of it starts
 * the actor, which is most of what an actor with undelivered messages needs.
 */
export const WAKE = "~wake"

/** Deletes what an actor remembers of old operations: the name of its entry in the index, and its time. */
export const EXPIRE = "~expire"

/** Destroys an actor: without arguments, or by the name and the time of its entry if it has expired. */
export const DESTROY = "~destroy"

/** Forgets what a destroyed actor remembers of old operations: the name of its entry, and its time. */
export const CLEAR = "~clear"
/** Enters an actor in indexes that are newer than its state. Returns those in which its value is taken. */
export const REINDEX = "~reindex"

/** The method of this name, if it is an internal one. */
export function internalMethod(name: string): ActorMethod | undefined {
  return isInternalName(name) ? METHODS.get(name) : undefined
}

/** The method by which a keeper does what an entry of this name is about. */
export function methodOfEntry(name: string): string {
  if (name === EXPIRY) return EXPIRE
  if (name === TOMBSTONE) return CLEAR
  if (name === EXPIRATION) return DESTROY
  return isInternalName(name) ? WAKE : REMIND
}

export function isInternalName(name: string): boolean {
  return name.charCodeAt(0) === TILDE
}

/** Calls an internal method, as any call: the actor is placed, started, and the call retried. */
export function callInternally(
  host: ActorHost,
  id: ActorId,
  method: string,
  args: readonly unknown[],
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = {
      method,
      args,
      flags: 0,
      chain: [],
      timeoutMs: host.environment.askTimeoutMs,
      span: undefined,
      operation: undefined,
      resolve,
      reject,
    }
    host.router.route(new OutgoingCall(host.router, { id, maker: undefined }, request))
  })
}

const TILDE = 126

const METHODS: ReadonlyMap<string, ActorMethod> = new Map([
  // What it runs is decided when it is admitted.
  [REMIND, method(REMIND, { once: { retainMs: 0 } }, () => undefined)],
  [EXPIRE, method(EXPIRE, { once: { retainMs: 0 } }, () => undefined)],
  [DESTROY, method(DESTROY, { once: { retainMs: 0 } }, () => undefined)],
  [CLEAR, method(CLEAR, { once: { retainMs: 0 } }, () => undefined)],
  [REINDEX, method(REINDEX, { once: { retainMs: 0 } }, () => undefined)],
  [
    WAKE,
    method(WAKE, { flags: READ_ONLY | ALWAYS_INTERLEAVE }, (actor, name) => {
      internals.context(actor).wake(name)
    }),
  ],
  [
    HOLD,
    // Reached by an actor that runs: it makes way.
    method(HOLD, {}, (actor, token, forMs) => {
      internals.context(actor).hold(token as string, forMs as number)
      return AGAIN
    }),
  ],
  [LET_GO, method(LET_GO, { flags: READ_ONLY | ALWAYS_INTERLEAVE }, () => undefined)],
  [
    UNDELIVERED,
    method(UNDELIVERED, { once: { retainMs: 0 } }, (actor, task) => {
      if (!(task instanceof UndeliveredTask)) throw new TypeError(`${UNDELIVERED} is not for callers`)
      internals.context(actor).messageEnded(task.number)
      return internals.onUndelivered(actor, task.message)
    }),
  ],
])

function method(
  name: string,
  { flags = 0, once }: { readonly flags?: number; readonly once?: ActorMethod["once"] },
  run: (actor: Actor, ...args: readonly unknown[]) => unknown,
): ActorMethod {
  return {
    name,
    run(this: unknown, ...args: readonly unknown[]) {
      return run(this as Actor, ...args)
    },
    flags,
    tag: 0,
    once,
    timeoutMs: undefined,
    input: undefined,
  }
}

import type { ActorId } from "../address/actor-id.js"
import type { ActorHost } from "./actor-host.js"
import type { ActorMethod } from "./actor-type.js"
import { OutgoingCall } from "./outgoing-call.js"

// Methods that every actor with a stored state has, and that only the runtime calls: their names begin with
// `~`. Handles refuse such names. Their turns are those of `once` methods.

/** Fires a reminder: its name as in the index, its scheduled time, and the number of the attempt. */
export const REMIND = "~remind"
/** Starts an actor that has something left to do: the name of its entry in the index, and its time. */
export const WAKE = "~wake"

/** The method of this name, if it is an internal one. */
export function internalMethod(name: string): ActorMethod | undefined {
  return METHODS.get(name)
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

const METHODS: ReadonlyMap<string, ActorMethod> = new Map(
  [REMIND, WAKE].map((name, tag) => [
    name,
    {
      name,
      run: () => undefined,
      flags: 0,
      tag,
      once: { retainMs: 0 },
      timeoutMs: undefined,
      input: undefined,
    },
  ]),
)

import { NodeUnreachableError } from "../errors/call-errors.js"
import { SettingsError } from "../errors/settings-error.js"
import { advice, type DisconnectReason } from "../remote/disconnect-reason.js"
import type { Remoting } from "../remote/remoting.js"
import type { About } from "./gossip-state.js"

/** Returns the error of a start that waiting does not mend: a handshake with a seed shows a wrong setting. */
export function misfitAt(
  unreached: ReadonlyMap<string, DisconnectReason>,
  { remoting, about }: { readonly remoting: Pick<Remoting, "self">; readonly about: About },
): SettingsError | undefined {
  for (const [seed, because] of unreached) {
    if (because === "self") {
      const { address } = remoting.self
      return new SettingsError("seeds", `${seed} is this node, which is known as ${address}; use that`)
    }
    if (because === "wrong-codec") {
      const { codec } = about.terms
      return new SettingsError(
        "codec",
        `must be that of the seed ${seed} (got ${codec}); set the same on all`,
      )
    }
    if (because === "wrong-store")
      return new SettingsError(
        "seeds",
        `the node at ${seed} uses a store; set the same store instead of seeds`,
      )
  }
  return undefined
}

/** Returns the error of a start that no seed has let in. */
export function unanswered(
  seeds: readonly string[],
  joinMs: number,
  unreached: ReadonlyMap<string, DisconnectReason>,
  outside: ReadonlySet<string>,
): NodeUnreachableError {
  const problems = [
    ...[...unreached].map(([seed, because]) => `; ${seed}: ${advice[because]}`),
    ...[...outside].map((seed) => `; ${seed}: the node there is in no cluster either`),
  ]
  const first = `only the first seed, ${seeds[0]}, forms a cluster if there is none`
  return new NodeUnreachableError(
    seeds.join(", "),
    "not-delivered",
    `no seed has let this node join within ${joinMs} ms${problems.join("")}; ${first}; set joinMs to wait longer`,
  )
}

/** Returns the error of a start on which the members have not agreed. */
export function notUp(
  seeds: readonly string[],
  joinMs: number,
  unreachable: readonly string[],
): NodeUnreachableError {
  const absent =
    unreachable.length === 0 ? "" : `; these members cannot be reached: ${unreachable.join(", ")}`
  return new NodeUnreachableError(
    seeds.join(", "),
    "not-delivered",
    `this node was let in, but the members have not agreed on it within ${joinMs} ms${absent}; set joinMs to wait longer`,
  )
}

import type { NodeId } from "../address/node-id.js"
import type { Remoting } from "../remote/remoting.js"
import type { Member } from "./member.js"
import { encodeMembership, type MembershipMessage } from "./membership-wire.js"

/**
 * The connections that membership needs, and what it says over them.
 *
 * The nodes that this one observes stay connected: a ping that had to dial first would measure the dial. Any
 * other member is dialled when there is gossip for it, and the message is sent once the connection is there.
 *
 * For each address only the latest message waits, until the end of the interval. A message that is dropped
 * is not missed, since it says something again, or answers something that is said again: `join` and `invite`
 * are repeated; `welcome`, `refuse` and `not-a-member` answer the next attempt, too; and what a `sync` or a
 * `delta` would have told, that a node is down for instance, is part of the state, which the next exchange
 * compares as a whole. The last words of a leader that leaves go to several peers, as it does not stay to
 * repeat them. A queue would instead send, after a partition, states that are long out of date.
 *
 * A node that is exiting is not dialled, as it may have gone, unless another incarnation is at its address.
 */
export class MemberConnections {
  readonly #remoting: MembershipRemoting
  /** The addresses that are kept connected: those of the observed nodes. */
  #kept: ReadonlySet<string> = new Set()
  /** The addresses of nodes that are exiting. */
  #going: ReadonlySet<string> = new Set()
  /** The addresses that are dialled for a message. */
  readonly #waiting = new Map<string, Waiting>()

  constructor(remoting: MembershipRemoting) {
    this.#remoting = remoting
  }

  /** Keeps the observed nodes connected from now on, and no others. */
  keep(observed: readonly string[], members: readonly Member[]): void {
    const before = this.#kept
    this.#going = goingOf(members)
    this.#kept = new Set(observed.map(addressOf).filter((address) => !this.#going.has(address)))
    for (const address of this.#kept) if (!before.has(address)) this.#remoting.keep(address, true)
    for (const address of before)
      if (!this.#kept.has(address) && !this.#waiting.has(address)) this.#remoting.keep(address, false)
  }

  /** Sends a message to a node id or an address, if it is connected. */
  send(to: string, message: MembershipMessage): void {
    this.#remoting.sendMembership(addressOf(to), encodeMembership(message))
  }

  /** Sends a message to a node id or an address, which is dialled if it is not connected. */
  sendOrDial(to: string, message: MembershipMessage): void {
    const address = addressOf(to)
    const payload = encodeMembership(message)
    if (this.#remoting.sendMembership(address, payload) || this.#going.has(address)) return
    this.#waiting.set(address, { payload, rounds: 0 })
    this.#remoting.keep(address, true)
  }

  /** Sends what has waited for this node. */
  connected({ address }: NodeId): void {
    const waiting = this.#waiting.get(address)
    if (waiting === undefined) return
    this.#stopWaiting(address)
    if (waiting.payload !== undefined) this.#remoting.sendMembership(address, waiting.payload)
  }

  /** A gossip interval has passed: what waits is out of date. */
  roundEnded(): void {
    for (const [address, waiting] of [...this.#waiting]) {
      waiting.payload = undefined
      waiting.rounds += 1
      if (waiting.rounds > DIALLED_ROUNDS) this.#stopWaiting(address)
    }
  }

  /** Needs no connection any more. Those that are there stay as they are. */
  end(): void {
    for (const address of [...this.#kept, ...this.#waiting.keys()]) this.#remoting.keep(address, false)
  }

  #stopWaiting(address: string): void {
    this.#waiting.delete(address)
    if (!this.#kept.has(address)) this.#remoting.keep(address, false)
  }
}

type MembershipRemoting = Pick<Remoting, "sendMembership" | "keep">

interface Waiting {
  /** The latest message; undefined once it is out of date, which it is after an interval. */
  payload: Uint8Array | undefined
  /** How many gossip intervals have passed since there was a message. */
  rounds: number
}

/** For how many gossip intervals an address is dialled: a dead seed is one trouble, and not one each time. */
const DIALLED_ROUNDS = 20

/** Accepts a node id or an address. */
function addressOf(node: string): string {
  const hash = node.indexOf("#")
  return hash === -1 ? node : node.slice(0, hash)
}

/** Returns the addresses at which there is no node but one that is exiting. */
function goingOf(members: readonly Member[]): ReadonlySet<string> {
  const exiting = members.filter(({ status }) => status === "exiting")
  const addresses = new Set(exiting.map(({ node }) => node.address))
  for (const { node, status } of members) if (status !== "exiting") addresses.delete(node.address)
  return addresses
}

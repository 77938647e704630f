import type { Random } from "../ports/random.js"
import { canonicalHost, isPort, parsePort, portProblem } from "./host.js"
import { NodeIdError } from "./node-id-error.js"
import { notAString } from "./quote.js"

/**
 * One incarnation of one node: `host:port#incarnation`.
 *
 * The incarnation is drawn at every start, and again when a node rejoins after it lost its lease. A restarted
 * process, or a machine that got the address of a dead one, is therefore another node, and nothing that was
 * promised to the old one holds for it. The incarnation is random rather than counted, because no one keeps
 * the count, and has 64 bits, so that none is drawn twice.
 */
export class NodeId {
  /** The advertised host; an IPv6 address is in brackets. */
  readonly host: string
  /** The advertised port. */
  readonly port: number
  /** 16 hex digits. */
  readonly incarnation: string
  /** `host:port`, which all incarnations of this node have in common. */
  readonly address: string
  /** The canonical text. */
  readonly text: string

  private constructor(host: string, port: number, incarnation: string) {
    this.host = host
    this.port = port
    this.incarnation = incarnation
    this.address = `${host}:${port}`
    this.text = `${this.address}#${incarnation}`
  }

  /** Creates a node id from its parts. Throws a {@link NodeIdError}. */
  static of(host: string, port: number, incarnation: string): NodeId {
    const checked = canonicalHost(host)
    if ("problem" in checked) throw new NodeIdError("InvalidHost", checked.problem)
    if (!isPort(port)) throw new NodeIdError("InvalidPort", `the port ${portProblem(port)}`)
    if (typeof incarnation !== "string") {
      throw new NodeIdError("InvalidIncarnation", `an incarnation ${notAString(incarnation)}`)
    }
    if (!/^[0-9a-f]{16}$/.test(incarnation)) {
      throw new NodeIdError("InvalidIncarnation", "an incarnation must be 16 lower-case hex digits")
    }
    return new NodeId(checked.host, port, incarnation)
  }

  /** Draws a new incarnation for the node at this address. */
  static fresh(host: string, port: number, random: Random): NodeId {
    const half = () => random.uint32().toString(16).padStart(8, "0")
    return NodeId.of(host, port, half() + half())
  }

  /** Parses the string form. Throws a {@link NodeIdError}. */
  static parse(text: string): NodeId {
    if (typeof text !== "string") throw new NodeIdError("Malformed", `a node id ${notAString(text)}`)
    const hash = text.lastIndexOf("#")
    const colon = text.lastIndexOf(":", hash)
    if (hash < 0 || colon < 0) throw new NodeIdError("Malformed", "a node id must be host:port#incarnation")
    const port = parsePort(text.slice(colon + 1, hash))
    if (port === undefined) throw new NodeIdError("InvalidPort", "the port must be a number from 1 to 65535")
    return NodeId.of(text.slice(0, colon), port, text.slice(hash + 1))
  }

  /** Compares host, port and incarnation. */
  equals(other: NodeId): boolean {
    return this.text === other.text
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.text
  }
}

import type { Random } from "../ports/random.js"
import { canonicalHost, isPort, parsePort, portProblem } from "./host.js"
import { NodeIdError } from "./node-id-error.js"
import { notAString } from "./quote.js"

/**
 * One life of one node: `host:port#incarnation`.
 *
 * The incarnation is drawn at every start, and again when a node comes back that had lost its lease; so a
 * process that was restarted, or a machine that got a dead one's address, is another node: nothing that was
 * promised to the old one holds for it. It is random rather than counted, because there is nobody to keep the
 * count, and 64 bits, so that none is drawn twice.
 */
export class NodeId {
  /** As others reach it; an IPv6 address is in brackets. */
  readonly host: string
  readonly port: number
  /** 16 hex digits. */
  readonly incarnation: string
  /** `host:port`: what all lives of this node have in common. */
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

  /** Throws a {@link NodeIdError}. */
  static of(host: string, port: number, incarnation: string): NodeId {
    const checked = canonicalHost(host)
    if ("problem" in checked) throw new NodeIdError("InvalidHost", checked.problem)
    if (!isPort(port)) throw new NodeIdError("InvalidPort", `the port ${portProblem(port)}`)
    if (typeof incarnation !== "string") {
      throw new NodeIdError("InvalidIncarnation", `an incarnation ${notAString(incarnation)}`)
    }
    if (!/^[0-9a-f]{16}$/.test(incarnation)) {
      throw new NodeIdError("InvalidIncarnation", "an incarnation is 16 hex digits in lower case")
    }
    return new NodeId(checked.host, port, incarnation)
  }

  /** A new life of the node at this address. */
  static fresh(host: string, port: number, random: Random): NodeId {
    const half = () => random.uint32().toString(16).padStart(8, "0")
    return NodeId.of(host, port, half() + half())
  }

  /** Throws a {@link NodeIdError}. */
  static parse(text: string): NodeId {
    if (typeof text !== "string") throw new NodeIdError("Malformed", `a node id ${notAString(text)}`)
    const hash = text.lastIndexOf("#")
    const colon = text.lastIndexOf(":", hash)
    if (hash < 0 || colon < 0) throw new NodeIdError("Malformed", "a node id is host:port#incarnation")
    const port = parsePort(text.slice(colon + 1, hash))
    if (port === undefined)
      throw new NodeIdError("InvalidPort", "what follows the host's : is no port from 1 to 65535")
    return NodeId.of(text.slice(0, colon), port, text.slice(hash + 1))
  }

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

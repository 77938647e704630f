import { ActorPathError } from "./actor-path-error.js"
import { IDENTIFIER, isIn } from "./character-class.js"
import { canonicalHost, isPort, portProblem } from "./host.js"
import { notAString, quoted } from "./quote.js"

/** The schemes of actor paths; a system that listens uses the `.tcp` form of its scheme. */
export type Scheme = "troupe" | "troupe.tcp" | "pekko" | "pekko.tcp"

/** The parts of an address, not yet checked. */
export interface AddressParts {
  /** Default `troupe`. */
  readonly scheme?: string
  /** The name of the system: letters, digits, `-`, `_` and `.`. */
  readonly system: string
  /** A host name, an IPv4 address, or an IPv6 address in brackets; none for a local address. */
  readonly host?: string | undefined
  /** A port from 1 to 65535; needs a host. */
  readonly port?: number | undefined
}

/**
 * The beginning of a path: scheme, system and, for actors of another node, host and port. All paths of one
 * system share one address, and with it the string that they begin with.
 */
export class Address {
  /** The scheme, in lower case. */
  readonly scheme: Scheme
  /** The name of the system. */
  readonly system: string
  /** The host in canonical form, or undefined for a local address. */
  readonly host: string | undefined
  /** The port, if the address has one. */
  readonly port: number | undefined
  /** `host:port`, `host`, or undefined for a local address. */
  readonly authority: string | undefined
  /** The same for equal addresses; the scheme does not count. */
  readonly key: string
  /** The string that paths with this address begin with. */
  readonly text: string

  private constructor(scheme: Scheme, system: string, host: string | undefined, port: number | undefined) {
    this.scheme = scheme
    this.system = system
    this.host = host
    this.port = port
    this.authority = host === undefined || port === undefined ? host : `${host}:${port}`
    this.key = this.authority === undefined ? system : `${system}@${this.authority}`
    this.text = `${scheme}://${this.key}`
  }

  /** Checks the parts, and returns the error if they are invalid. */
  static of(parts: AddressParts): Address | ActorPathError {
    const { scheme: given = "troupe" } = parts
    if (typeof given !== "string") {
      return new ActorPathError("InvalidScheme", `the scheme ${notAString(given)}`)
    }
    const scheme = given.toLowerCase()
    if (!isScheme(scheme)) {
      return new ActorPathError(
        "InvalidScheme",
        `the scheme must be one of ${schemes.join(", ")} (got ${quoted(scheme)})`,
      )
    }
    const problem = systemProblem(parts.system)
    if (problem !== undefined) return new ActorPathError("InvalidSystem", problem)
    if (parts.port !== undefined && !isPort(parts.port)) {
      return new ActorPathError("InvalidAuthority", `the port ${portProblem(parts.port)}`)
    }
    if (parts.host === undefined) {
      if (parts.port === undefined) return new Address(scheme, parts.system, undefined, undefined)
      return new ActorPathError("InvalidAuthority", "a port needs a host; write system@host:port")
    }
    const checked = canonicalHost(parts.host)
    if ("problem" in checked) return new ActorPathError("InvalidAuthority", checked.problem)
    return new Address(scheme, parts.system, checked.host, parts.port)
  }

  toString(): string {
    return this.text
  }
}

const schemes: readonly Scheme[] = ["troupe", "troupe.tcp", "pekko", "pekko.tcp"]

export function isScheme(text: string): text is Scheme {
  return (schemes as readonly string[]).includes(text)
}

function systemProblem(system: string): string | undefined {
  if (typeof system !== "string") return `the system name ${notAString(system)}`
  if (system.length === 0) return "the system name is missing; write troupe://system/user/..."
  if (system.length > 255) return "the system name must have at most 255 characters"
  for (let at = 0; at < system.length; at += 1) {
    if (!isIn(IDENTIFIER, system.charCodeAt(at))) {
      return `the system name must consist of letters, digits, - _ and . (not so at character ${at})`
    }
  }
  return undefined
}

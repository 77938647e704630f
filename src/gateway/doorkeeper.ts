import { createHash, randomBytes } from "node:crypto"
import type { LimitedLogger } from "../actor/limited-logger.js"
import { messageOf } from "../errors/thrown.js"
import type { Clock } from "../ports/clock.js"
import type { Copier } from "../virtual/copier.js"
import type { Principal } from "../virtual/principal.js"
import type { CheckedOptions, GatewayRequest } from "./gateway-options.js"
import { isPromiseLike, within } from "./within.js"

/** Finds out who makes a request, by the user's `authenticate`. */
export class Doorkeeper<P extends Principal> {
  readonly #authenticate: CheckedOptions<P>["authenticate"]
  readonly #copier: Copier
  readonly #logger: LimitedLogger
  readonly #clock: Clock
  readonly #timeoutMs: number

  constructor(authenticate: CheckedOptions<P>["authenticate"], host: DoorkeeperHost) {
    this.#authenticate = authenticate
    this.#copier = host.copier
    this.#logger = host.logger
    this.#clock = host.environment.clock
    this.#timeoutMs = host.environment.askTimeoutMs
  }

  /**
   * Returns undefined for a caller who is not let in. `ticket` is a secret that callers whom nobody knows
   * choose for themselves, so that several of their requests have the same principal.
   */
  admit(request: GatewayRequest, ticket: string | undefined): MaybeAdmitted<P> | Promise<MaybeAdmitted<P>> {
    const authenticate = this.#authenticate
    if (authenticate === "anyone") return anyone(ticket) as Admitted<P>
    try {
      const given = authenticate(request)
      return isPromiseLike(given) ? this.#awaited(given) : this.#checked(given)
    } catch (error) {
      return this.#failed(error)
    }
  }

  async #awaited(given: PromiseLike<P | undefined | null>): Promise<MaybeAdmitted<P>> {
    try {
      return this.#checked(await within(this.#clock, this.#timeoutMs, given))
    } catch (error) {
      return this.#failed(error)
    }
  }

  #failed(error: unknown): undefined {
    this.#logger.log("warn", "authenticate of a gateway failed", () => ({ problem: messageOf(error) }))
  }

  #checked(who: P | undefined | null): MaybeAdmitted<P> {
    if (who === undefined || who === null) return undefined
    const problem = problemOf(who)
    if (problem !== undefined) throw new TypeError(`authenticate ${problem}`)
    // A copy, because this node's actors are given this object itself.
    const principal = deepFrozen(this.#copier.copy(who)) as P
    const validMs = principal.exp === undefined ? Number.POSITIVE_INFINITY : this.#leftMs(principal.exp)
    return validMs > 0 ? { principal, validMs, hasScope: true } : undefined
  }

  #leftMs(exp: number): number {
    return exp * 1_000 - this.#clock.wallMs()
  }
}

/** A caller who is let in. */
export interface Admitted<P extends Principal> {
  readonly principal: P
  /** How long the caller need not be authenticated again. */
  readonly validMs: number
  /** Whether the caller can come back as the same principal, so that operations have a meaning. */
  readonly hasScope: boolean
}

type MaybeAdmitted<P extends Principal> = Admitted<P> | undefined

interface DoorkeeperHost {
  readonly copier: Copier
  readonly logger: LimitedLogger
  readonly environment: { readonly clock: Clock; readonly askTimeoutMs: number }
}

/**
 * The name of an operation in the cluster. Callers choose their operations, and could guess those of others,
 * whose answers they would then get: so the name depends on the principal too.
 */
export function scopedOperation({ id }: Principal, operation: string): string {
  // The length says where the id ends, so that no other pair gives the same text.
  return `gateway:${digestOf([id.length, id, operation].join(" "))}`
}

/** Whether a text can be a ticket: as long as one that nobody can guess. */
export function isTicket(text: unknown): text is string {
  return typeof text === "string" && /^[\w.~+/=-]{20,200}$/.test(text)
}

function anyone(ticket: string | undefined): Admitted<Principal> {
  // The id is seen by actors, and the ticket is a secret.
  const id = `anyone:${digestOf(ticket ?? randomBytes(18))}`
  return {
    principal: Object.freeze({ id }),
    validMs: Number.POSITIVE_INFINITY,
    hasScope: ticket !== undefined,
  }
}

function digestOf(what: string | Uint8Array): string {
  return createHash("sha256").update(what).digest("base64url")
}

function problemOf(who: unknown): string | undefined {
  if (typeof who !== "object" || who === null) return "must return an object with an id, or undefined"
  const { id, exp } = who as Partial<Principal>
  if (typeof id !== "string" || id.length === 0 || id.length > MOST_CHARACTERS) {
    return `must return an id of 1 to ${MOST_CHARACTERS} characters`
  }
  if (exp === undefined || Number.isFinite(exp)) return undefined
  return "must return an exp that is a number of seconds since 1970"
}

const MOST_CHARACTERS = 500

function deepFrozen(value: unknown): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value
  for (const held of Object.values(value)) deepFrozen(held)
  return Object.freeze(value)
}

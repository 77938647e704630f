import type { LimitedLogger } from "../actor/limited-logger.js"
import { ActorId } from "../address/actor-id.js"
import { ActorIdError } from "../address/actor-id-error.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { messageOf } from "../errors/thrown.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { operationProblem } from "../virtual/operation.js"
import type { Principal } from "../virtual/principal.js"
import type { VirtualActors } from "../virtual/virtual-actors.js"
import { CallCounts } from "./call-counts.js"
import { type Admitted, scopedOperation } from "./doorkeeper.js"
import { type ExposedCall, Exposure } from "./exposure.js"
import type { CheckedOptions } from "./gateway-options.js"
import { type Problem, type ProblemPolicy, problemOf, refusals } from "./problem.js"
import { PublicValues } from "./public-values.js"
import { isPromiseLike, within } from "./within.js"

/** The calls that come in through a gateway: checks each of them, makes it, and says how it ended. */
export class PublicCalls<P extends Principal> {
  readonly values: PublicValues
  readonly exposure: Exposure<P>
  readonly #actors: VirtualActors
  readonly #authorize: CheckedOptions<P>["authorize"]
  readonly #counts: CallCounts
  readonly #policy: ProblemPolicy
  #isClosing = false
  #onQuiet: (() => void) | undefined

  constructor(actors: VirtualActors, options: CheckedOptions<P>) {
    const { limits, showErrors } = options
    const { types, environment } = actors.host
    this.#actors = actors
    this.values = new PublicValues(environment.clock)
    this.exposure = new Exposure(options.expose, types)
    this.#authorize = options.authorize
    this.#counts = new CallCounts(limits.calls, limits.callsOfPrincipal)
    this.#policy = { showErrors, isRegistered: (error) => actors.host.options.types.of(error) !== undefined }
  }

  /** Refuses further calls, and resolves when none is in flight. */
  close(): Promise<void> {
    this.#isClosing = true
    if (this.#counts.all === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onQuiet = resolve
    })
  }

  /** Whether calls of the method are applied once, as far as that is known. */
  isOnce(type: string, method: string): boolean | undefined {
    const { host } = this.#actors
    const known = host.types.get(type)?.method(method)
    if (known !== undefined && known.once === undefined) return false
    return host.registry.published.isOnce(type, method) ?? (known === undefined ? undefined : true)
  }

  /**
   * Decides whether the call may be made: synchronously, unless code of the user takes its time. `undefined`
   * means that it may.
   */
  mayCall(caller: Admitted<P>, call: PublicCall): Problem | undefined | Promise<Problem | undefined> {
    if (this.#isClosing) return refusals.closing
    const exposed = this.exposure.find(call.type, call.method)
    if (exposed === undefined) return refusals.notFound
    const id = ActorId.tryOf(this.#host.options.namespace, call.type, call.key)
    if (id instanceof ActorIdError) return refusals.invalidKey
    const { operation } = call
    if (operation !== undefined) {
      if (!caller.hasScope) return refusals.noTicket
      if (operationProblem(operation) !== undefined || operation.startsWith("~")) {
        return refusals.invalidOperation
      }
      if (this.isOnce(call.type, call.method) === false) return refusals.notOnce
    }
    const authorize = this.#authorize
    if (exposed === true && authorize === undefined) return undefined
    return this.#authorized(
      caller.principal,
      call,
      exposed === true ? undefined : exposed.allow.bind(exposed),
    )
  }

  /** Counts a call, or says why there is no room for it. It is in flight until `leave`. */
  enter({ principal }: Admitted<P>): Problem | undefined {
    const full = this.#counts.enter(principal.id)
    if (full === undefined) return undefined
    return full === "principal" ? refusals.tooManyCalls : refusals.overloaded
  }

  leave({ principal }: Admitted<P>): void {
    this.#counts.leave(principal.id)
    if (this.#isClosing && this.#counts.all === 0) this.#onQuiet?.()
  }

  /** Makes a call that may be made. The returned promise is never rejected. */
  async make({ principal }: Admitted<P>, call: PublicCall): Promise<Outcome> {
    const { type, key, method, args, operation } = call
    try {
      const value = await this.#actors.call(type, key, method, args, {
        caller: principal,
        ...(operation === undefined ? {} : { operation: scopedOperation(principal, operation) }),
      })
      return value === undefined ? NOTHING : this.#answer(call, value)
    } catch (error) {
      return { problem: this.#problemOf(call, error) }
    }
  }

  #answer(call: PublicCall, value: unknown): Outcome {
    try {
      return { json: this.values.write(value) }
    } catch (error) {
      const { message } = error as Error
      return { problem: this.#problemOf(call, new InvalidMessageError(`the result ${message}`, "unknown")) }
    }
  }

  get #host(): ActorHost {
    return this.#actors.host
  }

  get #logger(): LimitedLogger {
    return this.#host.logger
  }

  /** All have to agree. What they throw is a refusal: a caller is not let in because a check has failed. */
  async #authorized(
    principal: P,
    call: ExposedCall,
    allow: ((principal: P, call: ExposedCall) => boolean | Promise<boolean>) | undefined,
  ): Promise<Problem | undefined> {
    const { clock, askTimeoutMs } = this.#host.environment
    try {
      for (const asked of [allow, this.#authorize]) {
        const given = asked?.(principal, call) ?? asked === undefined
        const may = isPromiseLike(given) ? await within(clock, askTimeoutMs, given) : given
        if (may !== true) return refusals.forbidden
      }
      return undefined
    } catch (error) {
      this.#logger.log("warn", "authorization by a gateway failed", () => ({
        actor: `${call.type}.${call.method}`,
        problem: messageOf(error),
      }))
      return refusals.forbidden
    }
  }

  /** What is not told to the caller is told to the log. */
  #problemOf({ type, method, operation }: PublicCall, error: unknown): Problem {
    const problem = problemOf(error, this.#policy)
    if (problem.status === 500) {
      this.#logger.log("warn", "a call through a gateway failed", () => ({
        method: `${type}.${method}`,
        problem: messageOf(error),
      }))
    }
    const isOpen = operation !== undefined && problem.delivery === "unknown"
    return isOpen ? { ...problem, operation } : problem
  }
}

/** A call, as somebody outside asks for it. */
export interface PublicCall extends ExposedCall {
  /** As the caller names it. */
  readonly operation: string | undefined
}

/** How a call ended: with a problem, or with its result as JSON; undefined if it gave nothing. */
export type Outcome =
  | { readonly problem: Problem; readonly json?: undefined }
  | { readonly problem?: undefined; readonly json: string | undefined }

const NOTHING: Outcome = { json: undefined }

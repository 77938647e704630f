/** Why a call has no result, as a gateway says it (RFC 9457), or the client itself. */
export interface CallProblem {
  /** The status of HTTP that fits. */
  readonly status: number
  /** What kind of problem it is, for programs. */
  readonly code: string
  /** What kind of problem it is, for people. */
  readonly title: string
  /** What is known of this occurrence. */
  readonly detail?: string
  /** Whether the call may have been run. */
  readonly delivery?: "not-delivered" | "unknown"
  /** The operation of a call whose outcome is unknown. */
  readonly operation?: string
}

/** A call through a client failed. */
export class ActorCallError extends Error implements CallProblem {
  override readonly name = "ActorCallError"
  /** The status of HTTP that fits. */
  readonly status: number
  /** What kind of problem it is: stable, and meant for programs. */
  readonly code: string
  /** What kind of problem it is, for people. */
  readonly title: string
  /**
   * Whether the call may have been run: `not-delivered` if not, so that calling again is safe. Undefined if
   * the actor itself has answered, with an error.
   */
  declare readonly delivery?: "not-delivered" | "unknown"
  /**
   * The operation of a call of a `once` method whose outcome is unknown. Calling with it, by
   * `client.actor(type, key, { operation })`, is another attempt at the same.
   */
  declare readonly operation?: string

  /** Made by the client. */
  constructor({ status, code, title, detail, delivery, operation }: CallProblem) {
    super(detail ?? title)
    this.status = status
    this.code = code
    this.title = title
    if (delivery !== undefined) this.delivery = delivery
    if (operation !== undefined) this.operation = operation
  }
}

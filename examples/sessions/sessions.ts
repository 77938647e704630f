import { randomUUID } from "node:crypto"
import { Actor, type DeactivationReason } from "troupe"

/** How long a session lasts without use. */
export const SESSION_MS = 30 * 60_000
/** The use of a session is saved this often: what a crash can take from the end of a session. */
export const SAVE_EVERY_MS = 10_000

export interface Session {
  /** A time of day, because timers end with the activation. */
  expiresAtMs: number
  readonly values: Map<string, string>
}

/**
 * The sessions of one user, whose name is the key.
 *
 * All sessions of a user are one actor, because state cannot be deleted: an actor for each session would leave
 * a record for each login in the store. Here an expired session is removed from the map, and what remains is
 * one small record for each user.
 */
export class Sessions extends Actor<Map<string, Session>> {
  static readonly type = "Sessions"
  static readonly idleAfterMs = 60_000
  static readonly methods = {
    open: { once: true },
    set: { once: true },
    close: { once: true },
    closeAll: { once: true },
  }

  /** Whether a session was used since the last save. */
  #wasUsed = false

  protected override initialState(): Map<string, Session> {
    return new Map()
  }

  protected override onActivate(): void {
    this.timers.every(SAVE_EVERY_MS, () => this.#saveUse())
  }

  protected override async onDeactivate(reason: DeactivationReason): Promise<void> {
    if (reason !== "fenced") await this.#saveUse()
  }

  /** Returns the token of a new session. */
  open(): string {
    this.#removeExpired()
    const token = randomUUID()
    this.state.set(token, { expiresAtMs: Date.now() + SESSION_MS, values: new Map() })
    return token
  }

  /** Returns the values of a session and extends it, or undefined if it is over. Writes nothing by itself. */
  use(token: string): ReadonlyMap<string, string> | undefined {
    const session = this.#current(token)
    if (session === undefined) return undefined
    session.expiresAtMs = Date.now() + SESSION_MS
    this.#wasUsed = true
    return session.values
  }

  /** Sets a value. Returns false if the session is over. */
  set(token: string, name: string, value: string): boolean {
    return this.#current(token)?.values.set(name, value) !== undefined
  }

  close(token: string): void {
    this.state.delete(token)
  }

  closeAll(): void {
    this.state.clear()
  }

  #current(token: string): Session | undefined {
    const session = this.state.get(token)
    return session !== undefined && session.expiresAtMs > Date.now() ? session : undefined
  }

  /** Runs as a turn of its own, as the tasks of timers do. */
  async #saveUse(): Promise<void> {
    const hasExpired = this.#removeExpired()
    if (!this.#wasUsed && !hasExpired) return
    this.#wasUsed = false
    await this.save()
  }

  /** Returns whether there was one. */
  #removeExpired(): boolean {
    const before = this.state.size
    for (const token of this.state.keys()) {
      if (this.#current(token) === undefined) this.state.delete(token)
    }
    return this.state.size < before
  }
}

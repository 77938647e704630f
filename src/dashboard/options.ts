/** Options of `dashboard`. */
export interface DashboardOptions {
  /**
   * Lets a request in: returns who makes it, with an `id` for the audit, or undefined. It replaces the links
   * with tokens, and is needed to listen at an address that other hosts can reach.
   */
  readonly authenticate?: (
    request: Request,
  ) => DashboardPrincipal | undefined | Promise<DashboardPrincipal | undefined>
  /** Whether operators may deactivate and destroy actors, and call their methods. Default false. */
  readonly actions?: boolean
  /** Whether the states of actors are shown. Default false: they may be confidential. */
  readonly showState?: boolean
  /** Returns what is shown of a state, which it gets as an object. Default: all of it, with `showState`. */
  readonly redact?: Redact
  /** The path of the dashboard, where another server passes requests on to it. Default `/`. */
  readonly path?: string
}

/** Who uses the dashboard. */
export interface DashboardPrincipal {
  /** A name for the audit. */
  readonly id: string
}

/** Returns what is shown of the state of an actor. */
export type Redact = (state: unknown, actor: { readonly type: string; readonly key: string }) => unknown

/**
 * Published on `system.events` when somebody did something through the dashboard, or tried to. It is logged
 * too.
 */
export class DashboardAction {
  /** What was done: `deactivate`, `call` or `destroy`. */
  readonly action: string
  /** The actor, as `type/key`. */
  readonly actor: string
  /** The method that was called; undefined for other actions. */
  readonly method: string | undefined
  /** Who did it: the `id` of the principal, or `token` for one who came by a link. */
  readonly who: string
  /** Whether it was only tried: nothing was changed. */
  readonly isDryRun: boolean
  /** Whether it was done, or could be. */
  readonly isDone: boolean
  /** What came of it, as a sentence. */
  readonly text: string

  constructor(fields: Omit<DashboardAction, never>) {
    this.action = fields.action
    this.actor = fields.actor
    this.method = fields.method
    this.who = fields.who
    this.isDryRun = fields.isDryRun
    this.isDone = fields.isDone
    this.text = fields.text
  }
}

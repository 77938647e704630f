import { TroupeError } from "./troupe-error.js"

/** A setting is invalid. The message names the field, the rule and the value. */
export class SettingsError extends TroupeError {
  readonly code = "InvalidSetting"
  /** The path of the setting, such as `keepAlive.timeoutMs`. */
  readonly field: string

  /** `problem` continues the name of the field (`must be ...`), or else is a sentence of its own. */
  constructor(field: string, problem: string) {
    super(problem.startsWith("must ") ? `${field} ${problem}` : `${field}: ${problem}`)
    this.field = field
  }
}

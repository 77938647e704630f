import { TroupeError } from "./troupe-error.js"

/** A setting that cannot be; the message names the field and says what it can be. */
export class SettingsError extends TroupeError {
  readonly code = "InvalidSetting"
  readonly field: string

  constructor(field: string, problem: string) {
    super(`setting ${field}: ${problem}`)
    this.field = field
  }
}

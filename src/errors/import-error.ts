import { TroupeError } from "./troupe-error.js"

/** A line of an import cannot be imported. Lines before it were, and a few after it may have been. */
export class ImportError extends TroupeError {
  readonly code = "Import"
  /** The number of the line, from 1. */
  readonly line: number

  constructor(line: number, detail: string, options?: ErrorOptions) {
    super(`line ${line} of the import: ${detail}`, options)
    this.line = line
  }
}

/**
 * Throws where the runtime finds itself in a state that cannot be: a defect, which is better seen at once
 * than in what it leads to. It stays on in production, so the condition has to be cheap, and the text a
 * constant.
 */
export function invariant(condition: boolean, text: string): asserts condition {
  if (!condition) throw new InvariantError(text)
}

class InvariantError extends Error {
  override readonly name = "InvariantError"

  constructor(text: string) {
    super(`${text}; this is a defect of Troupe, please report it`)
  }
}

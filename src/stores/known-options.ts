import assert from "node:assert/strict"

/**
 * Refuses options that a store does not have, and would ignore: a misspelled one, or one of its driver.
 */
export function assertKnown(options: object, known: readonly string[]): void {
  assert(
    typeof options === "object" && options !== null,
    `the options of a store must be an object (got ${typeof options}); they are ${known.join(", ")}`,
  )
  for (const name of Object.keys(options)) {
    assert(
      known.includes(name),
      `a store has no option ${JSON.stringify(name)}; they are ${known.join(", ")}`,
    )
  }
}

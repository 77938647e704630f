import { fieldOf, isInstance } from "../errors/thrown.js"

/** Keeps the stacks of the error and its causes, which disclose nothing within one process. */
export function withStacksOf(copy: Error, original: Error): Error {
  let [to, from]: unknown[] = [copy, original]
  for (let level = 0; level < MOST_CAUSES && isInstance(to, Error) && isInstance(from, Error); level += 1) {
    const stack = fieldOf(from, "stack")
    if (typeof stack === "string" && !Object.hasOwn(to, "stack")) {
      Object.defineProperty(to, "stack", { value: stack, writable: true, configurable: true })
    }
    to = to.cause
    from = fieldOf(from, "cause")
  }
  return copy
}

const MOST_CAUSES = 50

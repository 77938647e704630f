/**
 * Whether the text of the class assigns a function to a field of this name. This only chooses the words of an
 * error: a call to a method that does not exist starts nothing, so there is no instance to look at, and its
 * constructor may not run outside an activation.
 */
export function isFunctionField(type: object, name: string): boolean {
  if (!/^[\w$]+$/.test(name)) return false
  const escaped = name.replaceAll("$", "\\$&")
  const field = `(?:(?<![\\w$.#])(?<!\\b(?:const|let|var)\\s)|\\bthis\\.)${escaped}`
  const assigned = new RegExp(`${field}\\s*=\\s*(?:async\\b|function\\b|\\(|[\\w$]+\\s*=>)`)
  for (let at: unknown = type; typeof at === "function"; at = Object.getPrototypeOf(at)) {
    // The class may have a static `toString` of its own, so that of another function is used.
    if (assigned.test(isFunctionField.toString.call(at))) return true
  }
  return false
}

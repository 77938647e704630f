import type { Activation } from "./activation.js"

/** Says, for error messages, why messages wait for an activation; undefined if they do not. */
export function blockedBy({ state, isBusy, turns }: Activation): string | undefined {
  switch (state) {
    case "creating":
    case "activating":
      return "the actor was being started (onActivate)"
    case "deactivating":
      if (!isBusy) return "the previous activation was ending (onDeactivate)"
  }
  const { writer } = turns
  if (writer !== undefined)
    return `the actor was busy with ${writer.method === undefined ? "a " : ""}${writer.name}`
  return isBusy ? "the actor was busy" : undefined
}

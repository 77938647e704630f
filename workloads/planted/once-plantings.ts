import type { Planting } from "./planting.js"

/** Bugs by which a call is applied twice, or is answered with what is not so. */
export const oncePlantings: readonly Planting[] = [
  {
    name: "retry-with-a-fresh-operation",
    about: "a call whose outcome is unknown is attempted again under another number",
    breaks: "AppliedOnce",
    workload: "once",
    file: "src/virtual/outgoing-operation.ts",
    from: "this.#wasAttempted = true;",
    to: "this.#wasAttempted = true; this.#number += 1_000_000;",
  },
  {
    name: "gate-open-when-sent",
    about: "answers leave when the commit that they depend on was sent",
    breaks: "Gate",
    workload: "once",
    file: "src/virtual/output-gate.ts",
    from: "if (last === undefined) return false; last.held.push(held);",
    to: "if (last === undefined || (this.#isInFlight && this.#batches.length === 1)) return false; last.held.push(held);",
  },
  {
    name: "rollback-forgotten",
    about: "the state is not restored after a turn that threw",
    breaks: "ThrownChangesNothing",
    workload: "once",
    file: "src/virtual/durable-turns.ts",
    from: "internals.setState(this.#actor, this.#state.decode(encoded));",
    to: "",
  },
  {
    name: "state-without-its-memory",
    about: "a commit has the state, and not what is remembered of operations",
    breaks: "BoundedMemory",
    workload: "once",
    file: "src/virtual/durable-turns.ts",
    from: "this.#state.write({ value, memory, changes })",
    to: "this.#state.write({ value, memory: undefined, changes })",
  },
  {
    name: "named-without-a-look",
    about: "an operation that its caller named is run without a look at what was applied",
    breaks: "what the faults left can be carried out without them",
    workload: "once",
    file: "src/virtual/named-operations.ts",
    from: "if (!operation.isRepeat) return this.#admitNew();",
    to: "return this.#admitNew();",
  },
  {
    name: "throw-of-a-repeat-forgotten",
    about: "the throw of a repeat is not remembered, so another attempt may be applied",
    breaks: "AppliedOnce",
    workload: "once",
    file: "src/virtual/recollection.ts",
    from: "if (operation?.isRepeat !== true) return undefined;",
    to: "if (operation !== null) return undefined;",
  },
]

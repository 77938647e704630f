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
    from: "internals.setState(this.#actor, this.state.decode(encoded));",
    to: "",
  },
  {
    name: "state-without-its-memory",
    about: "a commit has the state, and not what is remembered of operations",
    breaks: "BoundedMemory",
    workload: "once",
    file: "src/virtual/turn-commits.ts",
    from: "this.state.write({ value, memory, indexed, changes: changesOf(decided) })",
    to: "this.state.write({ value, memory: undefined, indexed, changes: changesOf(decided) })",
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
  {
    name: "message-deleted-before-its-answer",
    about: "the row of a message is deleted when the message is delivered, and not when it is answered",
    breaks: "OutboxExact",
    workload: "once",
    file: "src/virtual/message-delivery.ts",
    from: `case "deliver": return void this.#deliver(command.message, command.isRepeat);
      case "tell": return this.#tellSender(command.to, command.message, command.error);
      case "wait": return this.#after(command.ms, () => this.#tell({ kind: "waited", to: command.to }));
      case "report": return this.#report(command);
      case "delete":`,
    to: `case "tell": return this.#tellSender(command.to, command.message, command.error);
      case "wait": return this.#after(command.ms, () => this.#tell({ kind: "waited", to: command.to }));
      case "report": return this.#report(command);
      case "delete": return;
      case "deliver":
        void this.#deliver(command.message, command.isRepeat);
        if (command.isRepeat) return;
        command = { number: command.message.number };`,
  },
  {
    name: "message-of-a-turn-that-threw",
    about: "a turn that throws sends its messages all the same",
    breaks: "OutboxExact",
    workload: "once",
    file: "src/virtual/durable-turns.ts",
    from: `this.#restore(this.#encoded);
        this.forgetDraft(turn);`,
    to: "this.#restore(this.#encoded);",
  },
  {
    name: "message-repeated-is-run",
    about: "a message is run again that its receiver has applied",
    breaks: "OutboxExact",
    workload: "once",
    file: "src/virtual/inbox.ts",
    from: "(birth === last.birth && number > last.number)",
    to: "(birth === last.birth && number >= last.number)",
  },
  {
    name: "name-for-other-arguments",
    about: "a name that was used is answered whatever the arguments are",
    breaks: "OneIntentPerName",
    workload: "once",
    file: "src/virtual/named-operations.ts",
    from: "if (Buffer.compare(print, turn.print) !== 0)",
    to: "if (false)",
  },
  {
    name: "retention-by-count",
    about: "only the last four names are remembered",
    breaks: "NamesKept",
    workload: "once",
    file: "src/virtual/named-operations.ts",
    from: "this.#expired = found.filter((name) => timeOfExpiry(name) <= now && !this.#deleted.has(name));",
    to: "this.#expired = found.filter((name) => !this.#deleted.has(name)).slice(0, -4);",
  },
  {
    name: "record-in-a-commit-of-its-own",
    about: "the rows that an operation is remembered by are written after the state, in another commit",
    breaks: "BoundedMemory",
    workload: "once",
    file: "src/virtual/durable-turns.ts",
    from: "this.#contribute(kept ?? after, { writes: all, absent, messages: draft.messages, change });",
    to: `this.#contribute(after, { writes: draft.writes, absent: NONE, messages: draft.messages });
      this.send();
      if (writes.length > 0) {
        this.gate.reserve({ writes: 1_000, bytes: 0 }, (full) => {
          full.isFull = true;
          full.memory = this.#recollection.encode();
        });
        this.#contribute(after, { writes, absent, messages: NONE });
      }`,
  },
  {
    name: "look-up-before-the-claim",
    about: "an activation goes by what an earlier one on its node remembered of operations",
    breaks: "BoundedMemory",
    workload: "once",
    file: "src/virtual/recollection.ts",
    from: `this.#memory = state.memory === undefined ? new OperationMemory() : OperationMemory.decode(state.memory);`,
    to: `owner.home.memories ??= new Map();
      const read = state.memory === undefined ? new OperationMemory() : OperationMemory.decode(state.memory);
      this.#memory = owner.home.memories.get(owner.key) ?? read;
      owner.home.memories.set(owner.key, this.#memory);`,
  },
]

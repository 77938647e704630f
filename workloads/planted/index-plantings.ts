import type { Planting } from "./planting.js"

/** Bugs by which an actor is not found, a unique value has two owners, or an answer was never true. */
export const indexPlantings: readonly Planting[] = [
  {
    name: "index-in-a-commit-of-its-own",
    about: "the entries of an actor that change are not part of the commit of its state",
    breaks: "IndexExact",
    workload: "index",
    file: "src/virtual/index-entries.ts",
    from: "return isChanged ? { after, ...entryChanges(actor, before, after) } : undefined;",
    to: "return isChanged ? { after, ...entryChanges(actor, before, after), writes: [] } : undefined;",
  },
  {
    name: "unique-without-its-condition",
    about: "a unique value is taken without the condition that nobody has it",
    breaks: "UniqueOwner",
    workload: "index",
    file: "src/virtual/index-entries.ts",
    from: "if (now.isUnique) guards.push({ key, index: now.name });",
    to: "",
  },
  {
    name: "satellites-of-another-moment",
    about: "an export takes a state and its satellites for one, although the state was saved in between",
    breaks: "ExportedWhole",
    workload: "index",
    file: "src/system/export-actors.ts",
    from: "const isSame = revisions.get(entry.key) === entry.revision;",
    to: "const isSame = revisions.size > 0;",
  },
  {
    name: "placement-of-a-node-that-is-gone",
    about: "an actor is said to be on the node that its placement names, whether or not that is there",
    breaks: "LocatedTrue",
    workload: "index",
    file: "src/system/actor-place.ts",
    from: "if (record === undefined) {",
    to: "if (false) {",
  },
  {
    name: "page-after-its-last-key",
    about: "the next page of a listing begins after the one that it should begin with",
    breaks: "ListedTrue",
    workload: "index",
    file: "src/system/actor-keys.ts",
    from: "const limit = Math.min(most, MOST_OF_A_PAGE);",
    to: "const limit = Math.min(most, MOST_OF_A_PAGE); if (from !== undefined) from += '.';",
  },
  {
    name: "import-under-no-generation",
    about: "an import is written over what it has read, whether or not the actor is held",
    breaks: "FencedWrites",
    workload: "index",
    file: "src/system/actor-import.ts",
    from: "const proposal = saveCommit({ key, generation }, state, bytes, changes);",
    to: `const proposal = saveCommit({ key, generation }, state, bytes, changes);
      proposal.conditions.splice(0, 2);`,
  },
  {
    name: "destroyed-entries-stay",
    about: "the entries of an actor that destroys itself stay in the indexes",
    breaks: "IndexExact",
    workload: "index",
    file: "src/virtual/durable-turns.ts",
    from: "const entries = this.indexes?.left() ?? NONE;",
    to: "const entries = NONE;",
  },
]

import type { Planting } from "./planting.js"

/**
 * Bugs that only a store shows whose commits overlap, whose watches lag and whose listings come in pages, as
 * the port allows: with one that orders everything and reports at once they do no harm.
 */
export const weakStorePlantings: readonly Planting[] = [
  {
    name: "absent-as-of-the-latest",
    about:
      "a store says that a key is absent as of its latest revision, and a commit in flight has a lower one",
    breaks: "revisions grow along each key",
    workload: "store",
    file: "src/sim/sim-store-commits.ts",
    from: `return this.#order === "ordered" ? this.#state.moment.revision : this.#tombstones.at(key);`,
    to: "return this.#state.moment.revision;",
  },
  {
    name: "watch-from-the-last-page",
    about: "the watch after a listing in pages begins at the moment of the last one",
    breaks: "mirrors have it all in the end",
    workload: "store",
    file: "src/registry/list-all.ts",
    from: "entries.push(...page.entries); } return { ...first, entries, more: false };",
    to: "entries.push(...page.entries); if (!page.more) return { ...page, entries }; } return { ...first, entries };",
  },
  {
    name: "old-record-taken",
    about: "a roster takes a record that a late watch reports, although it knows a later one",
    breaks: "a member comes up once",
    workload: "lag",
    file: "src/registry/roster.ts",
    from: "return this.#gone.has(node) || revision <= (this.#records.get(node)?.revision ?? 0);",
    to: "return false;",
  },
  {
    name: "records-not-listed",
    about: "a node relies on the watch of records and on what others tell it",
    breaks: "a new node is seen in time",
    workload: "lag",
    file: "src/registry/roster.ts",
    from: `FEW_NODES)) {
                this.#catchingUp ??= this.#catchUp();`,
    to: `FEW_NODES)) {`,
  },
]

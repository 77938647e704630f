import type { Planting } from "./planting.js"

/** Bugs by which a reminder is lost, fires twice, or fires although it was cancelled. */
export const reminderPlantings: readonly Planting[] = [
  {
    name: "reminder-without-its-entry",
    about: "the row of a reminder is committed without its entry in the index",
    breaks: "IndexMatches",
    workload: "reminders",
    file: "src/virtual/due-writes.ts",
    from: `writes.push({ kind: "put", key: dueKey(owner, name, to), value: placeOf(owner).value });`,
    to: "",
  },
  {
    name: "occurrence-not-compared",
    about: "a firing of an earlier time runs whatever the next time of the reminder is by then",
    breaks: "OncePerOccurrence",
    workload: "reminders",
    file: "src/virtual/reminders.ts",
    from: "if (row === undefined || (row.next !== at && row.entry !== at))",
    to: `if (row !== undefined && at < row.entry) {
        return this.#admit(turn, new Map([...rows, [name, { ...row, next: at, entry: at }]]));
      }
      if (row === undefined || (row.next !== at && row.entry !== at))`,
  },
  {
    name: "fired-by-its-entry",
    about: "a reminder that was postponed fires when its entry is reached",
    breaks: "NotBefore",
    workload: "reminders",
    file: "src/virtual/reminders.ts",
    from: "if (row.next !== at && row.next > now)",
    to: "if (false)",
  },
  {
    name: "postponed-for-an-earlier-time",
    about: "a reminder that is set again for an earlier time keeps its entry",
    breaks: "IndexMatches",
    workload: "reminders",
    file: "src/virtual/reminders.ts",
    from: "before.entry <= next && ",
    to: "",
  },
  {
    name: "scan-from-the-last-position",
    about: "a keeper goes on behind the last entry that it has seen, and not from the beginning",
    breaks: "NoneSkipped",
    workload: "reminders",
    file: "src/keeping/ward-keeper.ts",
    from: "const later = entries.find(({ at }) => at > now.wall);",
    to: `entries = entries.filter(({ key }) => key > (this.seen ?? ""));
      this.seen = entries.filter(({ at }) => at <= now.wall).at(-1)?.key ?? this.seen;
      const later = entries.find(({ at }) => at > now.wall);`,
  },
  {
    name: "advanced-before-it-has-run",
    about: "a reminder is advanced although its turn throws",
    breaks: "NoneSkipped",
    workload: "reminders",
    file: "src/virtual/durable-turns.ts",
    from: `this.#restore(this.#encoded);
        this.forgetDraft(turn);`,
    to: `this.#restore(this.#encoded);
      const draft = this.takeDraft();
      if (draft.writes.length > 0) {
        this.#contribute(this.#encoded, { absent: NONE, ...draft });
        this.#announce();
        this.send();
      }`,
  },
  {
    name: "next-occurrence-from-now",
    about: "the next occurrence follows from the time at which the last one ran",
    breaks: "NoneSkipped",
    workload: "reminders",
    file: "src/virtual/schedule.ts",
    from: "const next = nextTime(timetable, at);",
    to: "const next = nextTime(timetable, now);",
  },
  {
    name: "ward-that-nobody-knows-of",
    about: "a node does not give up a ward that it may have without knowing it",
    breaks: "NoneSkipped",
    workload: "reminders",
    file: "src/keeping/ward-claims.ts",
    from: "return !isOwn && this.#unsure.has(ward) ? this.#clearUp(ward, incarnation) : undefined;",
    to: "return undefined;",
  },
  {
    name: "cancelled-in-the-store-alone",
    about: "an activation goes on with the row of a reminder that it has cancelled",
    breaks: "CancelHeld",
    workload: "reminders",
    file: "src/virtual/reminders.ts",
    from: "const row = rows.get(name);",
    to: `const row = rows.get(name) ?? this.known?.get(name);
      this.known = new Map([...(this.known ?? []), ...rows]);`,
  },
  {
    name: "fired-however-early",
    about: "the node of an actor fires whatever the keeper takes for due",
    breaks: "NotBefore",
    workload: "reminders",
    file: "src/virtual/reminders.ts",
    from: "if (at > now + MOST_EARLY_MS)",
    to: "if (false)",
  },
  {
    name: "hint-not-heeded",
    about: "a keeper that sleeps is not woken by an earlier entry",
    breaks: "InTime",
    workload: "reminders",
    file: "src/keeping/ward-keeper.ts",
    from: "this.#nextDue = Math.min(this.#nextDue, event.at);",
    to: "",
  },
  {
    name: "entry-in-a-commit-of-its-own",
    about: "the entry of a reminder in the index is written after its row, in another commit",
    breaks: "IndexMatches",
    workload: "reminders",
    file: "src/virtual/durable-turns.ts",
    from: "this.#contribute(kept ?? after, { writes: all, absent, messages: draft.messages, change });",
    to: `const later = all.filter(({ key }) => key.startsWith("due/"));
      const now = all.filter(({ key }) => !key.startsWith("due/"));
      this.#contribute(after, { writes: now, absent, messages: draft.messages });
      this.send();
      if (later.length > 0) {
        this.gate.reserve({ writes: 1_000, bytes: 0 }, (full) => {
          full.isFull = true;
          full.memory = this.#recollection.encode();
        });
        this.#contribute(after, { writes: later, absent: NONE, messages: NONE });
      }`,
  },
]

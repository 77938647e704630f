import type { Planting } from "./planting.js"

/** Bugs between an event loop and the thread that renews its lease. */
export const renewalPlantings: readonly Planting[] = [
  {
    name: "deadline-before-the-answer",
    about: "the thread publishes a deadline when a renewal is sent, before the store has answered",
    breaks: "got through at",
    workload: "registry",
    file: "src/registry/renewal-program.ts",
    from: "const { lease, record, since } = known;",
    to: `const { lease, record } = known;
         const since = { monotonicMs, wallMs };
         const from = { deadline: monotonicMs + holderMs(this.#lease.terms), known: { lease, record, since } };
         publishLease(this.#published, from);
         return this.#send({ kind: "published", node: this.#lease.node });`,
  },
  {
    name: "thread-outlives-fenced-main",
    about: "the thread goes on to renew the lease of an incarnation that has stopped and left it to run out",
    breaks: "OneLateRenewal",
    workload: "registry",
    file: "src/registry/node-lifecycle.ts",
    from: "else this.#incarnation?.abandon(); this.roster.stop(); await this.#renewal?.stop();",
    to: "this.roster.stop();",
  },
  {
    name: "thread-decides-alone",
    about: "an event loop that hears that its record was changed leaves it to the thread to find out",
    breaks: "told is heeded",
    workload: "registry",
    file: "src/registry/threaded-lease.ts",
    from: "if (because !== undefined) this.#fence(because); break;",
    to: `if (because !== undefined) this.#tell({ kind: "doubt" }); break;`,
  },
  {
    name: "watchdog-never-bites",
    about: "the thread renews for an event loop that is silent, for as long as that may be",
    breaks: "whoever is stuck loses the lease to others",
    workload: "silence",
    file: "src/registry/renewal-program.ts",
    from: "const isSilent = monotonicMs - this.#heardAt >= this.#silenceMs;",
    to: "const isSilent = false;",
  },
  {
    name: "thread-hears-itself",
    about: "the thread takes its own renewals for signs of life of the event loop",
    breaks: "whoever is stuck loses the lease to others",
    workload: "silence",
    file: "src/registry/renewal-program.ts",
    from: "if (beats !== this.#beats) {",
    to: "{",
  },
  {
    name: "watchdog-bites-for-good",
    about: "a thread that has heard nothing for long renews no more, also when the event loop is heard again",
    breaks: "every item can be called",
    workload: "silence",
    file: "src/registry/renewal-program.ts",
    from: "if (isSilent === this.#isSilent) return undefined;",
    to: "if (isSilent === this.#isSilent || this.#isSilent) return undefined;",
  },
]

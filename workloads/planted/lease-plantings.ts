import type { Planting } from "./planting.js"

/**
 * Bugs that cost a node its lease, or the memory of its actors, when nothing is wrong but that much is to be
 * done, or that time went by.
 */
export const leasePlantings: readonly Planting[] = [
  {
    name: "late-yes-thrown-away",
    about: "a renewal that is confirmed after the holder has begun to look counts for nothing",
    breaks: "NoNeedlessFence",
    workload: "burst",
    file: "src/registry/node-lease.ts",
    from: "#renewed({ request, lease, sentAt, announces }, now) { const state = this.#state;",
    to: `#renewed({ request, lease, sentAt, announces }, now) { const state = this.#state;
         if (!this.#isPending(request, "renewal")) return [];`,
  },
  {
    name: "blocked-is-fenced",
    about: "a node that is past its deadline gives up its life without trying to renew",
    breaks: "only whose lease was ended is fenced",
    workload: "stall",
    file: "src/registry/node-lease.ts",
    from: `if (state.pending !== undefined) return []; const inMs = state.renewAt - now.monotonicMs;`,
    to: `if (now.monotonicMs >= state.deadline) return this.#fence("the lease could not be renewed in time");
         if (state.pending !== undefined) return []; const inMs = state.renewAt - now.monotonicMs;`,
  },
  {
    name: "claims-without-a-window",
    about: "a node has all of its claims in flight at once",
    breaks: "NoNeedlessFence",
    workload: "burst",
    file: "src/registry/commit-window.ts",
    from: "placements = new CommitWindow({ maxRequests: 1_024 });",
    to: "placements = new CommitWindow({ maxRequests: 1_000_000 });",
  },
  {
    name: "saves-without-a-window",
    about: "a node has all of its saves in flight at once, however large they are",
    breaks: "NoNeedlessFence",
    workload: "burst",
    file: "src/registry/commit-window.ts",
    from: "saves = new CommitWindow({ maxRequests: 1_024, maxBytes: 16 * 1_024 * 1_024 });",
    to: "saves = new CommitWindow({ maxRequests: 1_000_000 });",
  },
]

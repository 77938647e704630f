import type { Planting } from "./planting.js"

/**
 * The bugs that the models in `spec/` find, in the code that does what the models say; `spec/README.md` has
 * what each leads to. Not here are generations that start again, which are the store's to give; and a leaving
 * node that gives up its lease while its doors are open: a system that stops has no activation left by then,
 * so that one is for the golden conversations of `node-lease.ts`, and for the models. The last is about what
 * must happen, and not about what must not.
 */
export const registryPlantings: readonly Planting[] = [
  {
    name: "takeover-of-the-living",
    about: "a placement is taken over without looking at the record of the node that it names",
    breaks: "SingleActivation",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `return guess.kind === "own" ? [at] : [at, { kind: "absent", key: nodeKey(guess.node) }];`,
    to: "return [at];",
  },
  {
    name: "deadline-from-the-answer",
    about: "the holder of a lease counts its deadline from when the answer came",
    breaks: "got through at",
    workload: "registry",
    file: "src/registry/node-lease.ts",
    from: "? this.#countedFrom(sentAt) : {}",
    to: "? this.#countedFrom(now) : {}",
  },
  {
    name: "doors-open-unconfirmed",
    about: "past the deadline the doors open as soon as a renewal is sent",
    breaks: "got through at",
    workload: "registry",
    file: "src/registry/node-lease.ts",
    from: "return monotonicMs < state.deadline &&",
    to: `return state.pending?.what === "renewal" || monotonicMs < state.deadline &&`,
  },
  {
    name: "refusal-goes-on",
    about: "a renewal that is refused counts as one that is accepted",
    breaks: "got through at",
    workload: "registry",
    file: "src/registry/lease-keeper.ts",
    from: `if (result?.kind !== "committed")
                return { kind: "renewal-unsure", request };`,
    to: `if (result?.kind === "refused") return { kind: "renewed", request, lease, sentAt, announces };
         if (result?.kind !== "committed") return { kind: "renewal-unsure", request };`,
  },
  {
    name: "renewal-of-any-lease",
    about: "a renewal is not conditioned on the lease",
    breaks: "OneLateRenewal",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: leaseKey(node), revision: lease },
           { kind: "at", key: nodeKey(node), revision: record },`,
    to: `{ kind: "at", key: nodeKey(node), revision: record },`,
  },
  {
    name: "renewal-of-the-downed",
    about: "a renewal is not conditioned on the record",
    breaks: "DownIsHeeded",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: nodeKey(node), revision: record },
        ],
        writes: said`,
    to: "], writes: said",
  },
  {
    name: "renewal-of-anything",
    about: "a renewal has no condition at all",
    breaks: "RecordWithLease",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: leaseKey(node), revision: lease },
           { kind: "at", key: nodeKey(node), revision: record },`,
    to: "",
  },
  {
    name: "save-over-anything",
    about: "a save is conditioned on the placement alone",
    breaks: "FencedWrites",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `over === undefined ? { kind: "absent", key } : { kind: "at", key, revision: over },`,
    to: "",
  },
  {
    name: "save-by-anybody",
    about: "a save is conditioned on the state alone",
    breaks: "FencedWrites",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: placement.key, revision: placement.generation },
        over === undefined`,
    to: "over === undefined",
  },
  {
    name: "release-of-anything",
    about: "a release deletes whatever placement there is",
    breaks: "SingleActivation",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `conditions: [{ kind: "at", key, revision: generation }],`,
    to: "conditions: [],",
  },
  {
    name: "claim-by-anybody",
    about: "a claim is not conditioned on the claimer's own record",
    breaks: "PlacementConsistency",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: claimerOf(claimer.node).key, revision: claimer.record },`,
    to: "",
  },
  {
    name: "adopted-generation",
    about: "a node that a placement names runs under the generation that it finds there",
    breaks: "every activation has its own generation",
    workload: "registry",
    file: "src/registry/claim-driver.ts",
    from: "const claimer = { node: node.toString(), record };",
    to: `const claimer = { node: node.toString(), record };
         if (guess.kind === "own") {
           return this.#store.get(this.#claimed.key).then(({ entry }) => {
             window.leave();
             const { generation } = guess;
             return this.#handle(entry?.revision === generation ? { kind: "committed", generation } : { kind: "failed" });
           }, () => {
             window.leave();
             return this.#handle({ kind: "failed" });
           });
         }`,
  },
  {
    name: "lease-ended-early",
    about: "an observer ends a lease before its holder has fallen silent",
    breaks: "got through at",
    workload: "registry",
    file: "src/registry/lease-terms.ts",
    from: "return ttlMs * (1 + driftMargin);",
    to: "return ttlMs * (1 - 2 * driftMargin);",
  },
  {
    name: "doors-of-the-node",
    about: "an activation that has ended still gets through as long as its node may act",
    breaks: "SingleActivation",
    workload: "registry",
    file: "src/registry/tenure.ts",
    from: "return this.endedBecause === undefined && this.incarnation.mayAct();",
    to: "return this.incarnation.mayAct();",
  },
  {
    name: "state-before-claim",
    about: "the state is read before the claim has committed",
    breaks: "and by then there was",
    workload: "registry",
    file: "src/registry/registry.ts",
    from: `return driver.claim(guess?.kind === "placed" ? guess : undefined).then(`,
    to: `const claim = async () => {
           const early = await this.#dependencies.store.get("state/" + id.path).catch(() => undefined);
           const outcome = await driver.claim(guess?.kind === "placed" ? guess : undefined);
           return outcome.kind === "claimed" && early !== undefined ? { ...outcome, state: early } : outcome;
         };
         return claim().then(`,
  },
  {
    name: "down-whatever-became-of-it",
    about: "a record is set down whatever became of it since it was read",
    breaks: "RecordWithLease",
    workload: "registry",
    file: "src/registry/commits.ts",
    from: `conditions: [{ kind: "at", key: nodeKey(node), revision: at }],`,
    to: "conditions: [],",
  },
  {
    name: "down-and-on",
    about: "a node that reads its record goes on although it says down",
    breaks: "DownIsHeeded",
    workload: "registry",
    file: "src/registry/node-lease.ts",
    from: `if (record > state.record && !isAnnounced)`,
    to: "if (false)",
  },
  {
    name: "refused-by-its-twin",
    about: "a save that was sent twice and refused is said to have failed",
    breaks: "TrueAnswers",
    workload: "registry",
    file: "src/registry/save.ts",
    from: `return this.#sentBefore ? this.#enter("checking", { kind: "read" }) : this.#end({ kind: "refused" });`,
    to: `return this.#end({ kind: "refused" });`,
  },
  {
    name: "cache-goes-back",
    about: "a cache takes an entry that is older than its own",
    breaks: "CacheOrder",
    workload: "registry",
    file: "src/registry/placement-cache.ts",
    from: `if (!replaces(where, before))
            return ignored(replaces(before, where) ? "older" : "known already");`,
    to: "",
  },
  {
    name: "suspended-and-on",
    about: "nobody looks at the wall clock after a machine was suspended",
    breaks: "got through at",
    workload: "registry",
    file: "src/registry/node-lease.ts",
    from: "return monotonicMs < state.deadline && wallMs - state.since.wallMs < holderMs(this.#terms);",
    to: "return monotonicMs < state.deadline;",
  },
  {
    name: "clocks-beyond-the-bound",
    about: "clocks are twice as fast or half as slow, and the margin is a tenth",
    breaks: "got through at",
    workload: "registry",
    file: "src/sim/world.ts",
    from: "1 + this.random.between(-0.05, 0.05) * drift",
    to: "(this.random.chance(0.5) ? 0.5 : 2)",
  },
  {
    name: "watch-not-begun-again",
    about: "a watch that was lost while the store was away is not begun again",
    breaks: "Convergence",
    workload: "registry",
    file: "src/registry/store-watch-loop.ts",
    from: "this.#retry = this.#clock.setTimer(pauseMs, () => this.#again());",
    to: "",
  },
  {
    name: "observed-by-the-dead",
    about: "a lease is observed by the neighbours of its holder, also by those that cannot be reached",
    breaks: "nodes that die with their observers are found in time",
    workload: "neighbours",
    file: "src/registry/observed-nodes.ts",
    from: "if (acting.has(node)) passed += 1;",
    to: "passed += 1;",
  },
]

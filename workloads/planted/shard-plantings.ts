import type { Planting } from "./planting.js"

/** Bugs by which two activations of an actor in a shard act, a move loses something, or maps disagree. */
export const shardPlantings: readonly Planting[] = [
  {
    name: "restart-before-the-save-is-decided",
    about: "an actor starts again under the generation under which its last activation did not end in order",
    breaks: "TokenOrder",
    workload: "shards",
    file: "src/sharding/held-shard.ts",
    from: "if (!tenure.isSettled) this.#unsettled.add(tenure.id.name);",
    to: "",
  },
  {
    name: "moved-by-the-deadline",
    about: "a shard whose actors do not end in time is moved nevertheless",
    breaks: "Delivery",
    workload: "shards",
    file: "src/sharding/shard-home.ts",
    from: `return this.#state === "closing" ? this.#enter("open", { kind: "reopen" }) : NONE;`,
    to: `return this.#state === "closing" ? this.handle({ kind: "drained" }) : NONE;`,
  },
  {
    name: "save-without-the-shard",
    about: "a save is conditioned on the state alone, and not on the generation of the shard",
    breaks: "FencedWrites",
    workload: "shards",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: placement.key, revision: placement.generation },
      over === undefined`,
    to: "over === undefined",
  },
  {
    name: "transfer-to-anybody",
    about: "a shard is passed on to a node that leaves, or is gone",
    breaks: "PlacementConsistency",
    workload: "shards",
    file: "src/registry/commits.ts",
    from: `{ kind: "at", key: nodeKey(target.node), revision: target.record },`,
    to: "",
  },
]

import type { Planting } from "./planting.js"

/** Bugs by which entities run twice, or lose messages when their shards move. */
export const regionPlantings: readonly Planting[] = [
  {
    name: "map-moves-on-a-deadline",
    about: "a coordinator gives a shard away when its handoff takes too long",
    breaks: "at most one incarnation of an entity runs",
    workload: "regions",
    file: "src/sharding/entities/coordinator.ts",
    from: `move.stage = "reopening"; this.#map.nextOrder(shard);`,
    to: "return this.#stopped(shard, home, order, now);",
  },
  {
    name: "silent-region-forgotten",
    about: "a coordinator gives shards away once most members have reported",
    breaks: "at most one incarnation of an entity runs",
    workload: "regions",
    file: "src/sharding/entities/coordinator.ts",
    from: "if (this.#reports.size === this.#members.size)",
    to: "if (this.#reports.size * 2 > this.#members.size)",
  },
  {
    name: "region-buffer-dropped",
    about: "a region drops the messages that wait for a shard when its home is named",
    breaks: "without a crash no",
    workload: "regions",
    file: "src/sharding/entities/region.ts",
    from: "const messages = this.buffer.take(shard);",
    to: "const messages = this.buffer.take(shard).slice(1);",
  },
  {
    name: "handoff-acknowledged-past-the-home",
    about: "a region acknowledges a handoff to the coordinator, past messages that the home has not received",
    breaks: "without a crash no",
    workload: "regions",
    file: "src/sharding/entities/region.ts",
    from: "return message.home === this.#self ? this.begun(begun, this.#term) : [this.#send(message.home, begun)];",
    to: "return this.begun(begun, this.#term);",
  },
  {
    name: "shard-stopped-before-its-entities",
    about: "a home says that it has stopped a shard while its entities handle their last messages",
    breaks: "at most one incarnation of an entity runs",
    workload: "regions",
    file: "src/sharding/entities/entity-host.ts",
    from: "if (ending === undefined)",
    to: "for (const id of ending ?? []) this.#drain(id); if (true)",
  },
  {
    name: "entity-stopped-with-messages",
    about: "an entity that is passivated, or whose shard moves, loses the messages in its mailbox",
    breaks: "without a crash no",
    workload: "regions",
    file: "src/sharding/entities/entity-host.ts",
    from: "drain(running.ref.cell);",
    to: "running.ref.cell.stop();",
  },
]

import { describe, expect, it } from "vitest"
import { readGossip } from "./read-gossip.js"

const NODE = "a:1#0000000000000001"
const about = {
  roles: ["web"],
  types: ["account"],
  terms: { version: 1, codec: "json", shards: { account: 10 } },
}
const knowledge = {
  cluster: "c",
  version: 3,
  entries: [[NODE, 1, 1, 0]],
  abouts: [about],
  moves: [77, 2, 1],
  words: [77, 3, 0, 1_000, 12, 2, 0, 1],
  digests: [5],
  nodes: [NODE, "b:1#0000000000000001"],
}
const welcome = { kind: "welcome", node: NODE, ...knowledge }
const delta = { kind: "delta", ...knowledge, lacks: [1], wantsMoves: [2], wantsWords: [3] }
const sync = { kind: "sync", cluster: "c", version: 1, summary: [77, 1, 2, 3] }
const join = { kind: "join", about }

describe("a message of gossip", () => {
  it.each([
    join,
    welcome,
    delta,
    sync,
    { kind: "refuse", node: NODE, field: "codec", problem: "must be another" },
    { kind: "invite", cluster: "c", size: 1 },
    { kind: "not-a-member", node: NODE, cluster: "c", status: "unknown" },
  ])("is read: $kind", (message) => {
    expect(readGossip(message)).toBe(message)
  })

  const many = (count: number, value: unknown) => new Array(count).fill(value)
  it.each<[string, unknown]>([
    ["is no object", "sync"],
    ["is null", null],
    ["is of no known kind", { kind: "hello" }],
    ["has no cluster", { ...sync, cluster: undefined }],
    ["has a version below zero", { ...sync, version: -1 }],
    ["has a summary that is cut off", { ...sync, summary: [77, 1, 2] }],
    ["has a status that does not exist", { ...sync, summary: [77, 6, 2, 3] }],
    ["has a summary of too many nodes", { ...sync, summary: many(40_004, 1) }],
    ["has a number that is none", { ...sync, summary: [77, 1, "2", 3] }],
    ["has a number that is not whole", { ...sync, summary: [77, 1, 0.5, 3] }],
    ["has an entry without about", { ...welcome, entries: [[NODE, 1, 1, 1]] }],
    ["has a node id that is none", { ...welcome, entries: [["a:1", 1, 1, 0]] }],
    ["has a node id in another spelling", { ...welcome, entries: [["A:1#0000000000000001", 1, 1, 0]] }],
    ["has too many entries", { ...welcome, entries: many(10_001, [NODE, 1, 1, 0]) }],
    ["has moves that are cut off", { ...welcome, moves: [77, 2] }],
    ["has a move to no status", { ...welcome, moves: [77, 9, 1] }],
    ["has a word that is cut off", { ...welcome, words: [77, 3, 0, 1_000, 12] }],
    ["has a word without its unreachable nodes", { ...welcome, words: [77, 3, 0, 1_000, 12, 2, 0] }],
    ["has a word without its digest", { ...welcome, words: [77, 3, 1, 1_000, 12, 0] }],
    [
      "has a word that names an unreachable node that is not there",
      { ...welcome, words: [77, 3, 0, 0, 0, 1, 2] },
    ],
    ["has a word of a node that is busier than ever", { ...welcome, words: [77, 3, 0, 1_001, 12, 0] }],
    ["asks for no list", { ...delta, lacks: 1 }],
    ["has no roles", { ...join, about: { ...about, roles: undefined } }],
    ["has too many types", { ...join, about: { ...about, types: many(1_001, "a") } }],
    ["has a role that is too long", { ...join, about: { ...about, roles: ["a".repeat(257)] } }],
    ["has no terms", { ...join, about: { ...about, terms: undefined } }],
    [
      "has shards that are not counted",
      { ...join, about: { ...about, terms: { ...about.terms, shards: { a: "1" } } } },
    ],
    ["does not say how large its cluster is", { kind: "invite", cluster: "c" }],
    ["says nothing of why it refuses", { kind: "refuse", node: NODE, field: "codec" }],
    ["has no status that bars a node", { kind: "not-a-member", node: NODE, cluster: "c", status: "up" }],
    ["does not say whom it bars", { kind: "not-a-member", cluster: "c", status: "down" }],
    ["does not say whom it welcomes", { ...welcome, node: undefined }],
    ["does not say whom it refuses", { kind: "refuse", field: "codec", problem: "must be another" }],
  ])("is not read if it %s", (_, message) => {
    expect(readGossip(message)).toBeUndefined()
  })
})

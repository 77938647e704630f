import type { Guess } from "../../src/registry/claim.js"
import {
  type Proposal,
  releaseCommit,
  saveCommit,
  shardClaimCommit,
  transferCommit,
} from "../../src/registry/commits.js"
import { plain } from "../registry-code/model-store.js"
import type { Bug, Setting } from "./setting.js"
import { type Request, SHARD, stateKey, type World } from "./world.js"

/*
 * The commits that drivers send, made by the production functions; under some bugs a condition is dropped.
 */

type Asked = Pick<Request, "kind" | "at" | "by"> &
  Partial<Omit<Request, "conditions" | "writes">> & { readonly proposal: Proposal }

export function send(world: World, { proposal, ...asked }: Asked, { bugs }: Setting): void {
  const { conditions, writes } = plain(proposal)
  world.requests.push({
    isAwaited: true,
    ...asked,
    conditions: conditions.filter(({ key }) => !bugs.some((bug) => isDropped(bug, asked.kind, key))),
    writes,
  })
}

export const propose = {
  claim: (claimer: { node: string; record: number }, guess: Guess) =>
    shardClaimCommit(claimer, [{ key: SHARD, guess }]),
  transfer: (generation: number, target: { node: string; record: number }) =>
    transferCommit(SHARD, generation, target),
  release: (generation: number) => releaseCommit(SHARD, generation),
  save: (generation: number, entity: number, over: number | undefined, writeId: string) =>
    saveCommit({ key: SHARD, generation }, { key: stateKey(entity), over }, Buffer.from(writeId, "latin1")),
}

function isDropped(bug: Bug, request: Request["kind"], key: string): boolean {
  switch (bug) {
    case "save-on-state":
      return request === "save" && key === SHARD
    case "save-on-shard":
      return request === "save" && key !== SHARD
    case "transfer-without-record":
      return request === "transfer" && key !== SHARD
    default:
      return false
  }
}

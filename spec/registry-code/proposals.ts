import {
  claimCommit,
  downCommit,
  endCommit,
  joinCommit,
  type Proposal,
  releaseCommit,
  renewCommit,
  saveCommit,
} from "../../src/registry/commits.js"
import type { NodeRecord } from "../../src/registry/node-record.js"
import type { Bug } from "./bugs.js"
import { plain } from "./model-store.js"
import type { Setting } from "./setting.js"
import { type Mutable, PLACEMENT, type Request, STATE, type World } from "./world.js"

/*
 * The commits that the drivers send, made by the production functions; under some bugs a condition is
 * dropped.
 */

type Asked = Pick<Request, "kind" | "at" | "by"> &
  Partial<Omit<Request, "conditions" | "writes" | "reads">> & { readonly proposal: Proposal }

export function send(world: World, { proposal, ...asked }: Asked, { bugs }: Setting): void {
  const { conditions, writes, reads } = plain(proposal)
  world.requests.push({
    isAwaited: true,
    number: 0,
    ...asked,
    conditions: conditions.filter(
      ({ kind, key }) => !bugs.some((bug) => isDropped(bug, asked.kind, kind, key)),
    ),
    writes,
    ...(reads === undefined ? {} : { reads }),
  })
}

export const propose = {
  join: (node: string) => joinCommit(node, saying("active"), NO_BYTES),
  renew: (node: string, at: { lease: number; record: number }, announces: boolean) =>
    renewCommit(node, at, { value: NO_BYTES, said: announces ? saying("leaving") : undefined }),
  end: endCommit,
  down: (node: string, at: number) => downCommit(node, saying("active"), at),
  claim: (claimer: { node: string; record: number }, guess: Mutable<NonNullable<Request["guess"]>>) =>
    claimCommit({ key: PLACEMENT, state: STATE }, claimer, guess),
  release: (generation: number) => releaseCommit(PLACEMENT, generation),
  save: (generation: number, over: number | undefined, writeId: string) =>
    saveCommit({ key: PLACEMENT, generation }, { key: STATE, over }, Buffer.from(writeId, "latin1")),
}

function saying(status: NodeRecord["status"]): NodeRecord {
  return { status, roles: [], types: [], lifeline: undefined }
}

function isDropped(bug: Bug, request: Request["kind"], kind: "at" | "absent", key: string): boolean {
  switch (bug) {
    case "takeover-without-record":
      return request === "claim" && kind === "absent" && key.startsWith("nodes/")
    case "claim-without-record":
      return request === "claim" && kind === "at" && key.startsWith("nodes/")
    case "renewal-without-lease":
      return request === "renew" && key.startsWith("leases/")
    case "renewal-without-record":
      return request === "renew" && key.startsWith("nodes/")
    case "renewal-unconditioned":
      return request === "renew"
    case "save-on-ownership":
      return request === "save" && key === STATE
    case "save-on-state":
      return request === "save" && key === PLACEMENT
    case "release-unconditioned":
      return request === "release"
    case "ended-unconditioned":
      return request === "end"
    case "down-unconditioned":
      return request === "down"
    default:
      return false
  }
}

/** All nodes of the model have the same terms, so leases need not say them. */
const NO_BYTES = new Uint8Array(0)

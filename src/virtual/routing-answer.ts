import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { NodeUnreachableError } from "../errors/call-errors.js"
import type { Answer } from "../placement/placement-protocol.js"
import type { ActorHost } from "./actor-host.js"
import { refusalError } from "./placement-answer.js"
import type { RoutingAnswer } from "./routing-protocol.js"

/** Translates an answer of placement for the routing of the calls to that actor. */
export function routingAnswer(host: ActorHost, id: ActorId, answer: Answer): RoutingAnswer {
  switch (answer.kind) {
    case "local":
      return host.table.get(id.name)?.activation === undefined ? BLOCKED : HERE
    case "remote":
      // An earlier incarnation of this node still has a record: the actor does not run, and may not be
      // claimed yet.
      if (host.registry.hasBeen(answer.node)) return BLOCKED
      if (answer.node.address === host.registry.node.address) return atThisAddress(host, answer.node)
      return { kind: "node", node: answer.node }
    case "refused": {
      const { refusal } = answer
      if (refusal.reason === "no-authority" && refusal.cause !== undefined) {
        host.logger.log("error", "a placement strategy failed", {
          actor: id.toString(),
          cause: refusal.cause,
        })
      }
      const seen = host.seenTypes.has(id.type) ? "were-seen" : "never-seen"
      const hosts = host.life?.isEnding ? "not-awaited" : seen
      return { kind: "refused", error: refusalError(id, refusal), hosts }
    }
  }
}

/** Handles a record of another process at this node's address: an earlier one, or one that is alive. */
function atThisAddress({ registry, options }: ActorHost, node: NodeId): RoutingAnswer {
  if (!registry.isRenewing(node)) return BLOCKED
  const problem = options.gateOf(node) === undefined ? NOT_LISTENING : SHARED_ADDRESS
  const error = new NodeUnreachableError(node.address, "not-delivered", problem)
  return { kind: "refused", error, hosts: "never-seen" }
}

export const NOT_LISTENING = "this system does not connect to other nodes; set listen"
const SHARED_ADDRESS =
  "another process has joined the cluster with this node's own address; give each node its own address with listen.port or advertise"

const BLOCKED: RoutingAnswer = { kind: "blocked" }
const HERE: RoutingAnswer = { kind: "here" }

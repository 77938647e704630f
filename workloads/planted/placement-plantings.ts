import type { Planting } from "./planting.js"

/**
 * Bugs in how calls find their actors: in placement, its driver, and both sides of a call. More of them are
 * beside the conversations of `src/placement` and the scenarios of `src/virtual`; these are found through
 * everything around them.
 */
export const placementPlantings: readonly Planting[] = [
  {
    name: "owner-whose-record-is-gone",
    about: "an actor is looked for where it was last placed, though the record of that node is gone",
    breaks: "Convergence: calls from",
    workload: "activation",
    file: "src/placement/placement-step.ts",
    from: "!isOwn && role.hasMember(placed.node))",
    to: "!isOwn)",
  },
  {
    name: "waiters-of-a-cancelled-request",
    about: "those who resolve an actor while a failed claim of it is released are never answered",
    breaks: "Convergence: calls from",
    workload: "activation",
    file: "src/placement/placement-coordinator.ts",
    from: "if (request.waiters.length === 0) return NONE;",
    to: "return NONE;",
  },
  {
    name: "request-stays-by-its-id",
    about: "a placement request that has ended stays in the table by id, and later resolves wait for it",
    breaks: "Convergence: calls from",
    workload: "activation",
    file: "src/placement/placement-requests.ts",
    from: "this.#byId.delete(request.id.name);",
    to: "",
  },
  {
    name: "passed-on-by-the-authority",
    about: "a node that was named for an actor asks the strategy again, which may name another one",
    breaks: "Convergence: calls from",
    workload: "activation",
    file: "src/placement/authorities.ts",
    from: "here ? candidateOf(this.#self, candidates) : undefined",
    to: "undefined",
  },
  {
    name: "failed-start-told-to-nobody",
    about: "callers of an actor that fails to start are not told",
    breaks: "Delivery",
    workload: "activation",
    file: "src/virtual/placement-driver.ts",
    from: "table.get(id.name)?.start?.failed?.tellFailure();",
    to: "",
  },
  {
    name: "answer-that-nobody-gets",
    about: "the driver of placement does not pass on what the coordinator answers to those who wait",
    breaks: "Convergence: calls from",
    workload: "activation",
    file: "src/virtual/placement-driver.ts",
    from: "settled?.(command.answer);",
    to: "",
  },
  {
    name: "resent-call-does-not-say-so",
    about:
      "a call that came back is sent again as if it were new, and refused as one that was sent too early",
    breaks: "Convergence: calls from",
    workload: "activation",
    file: "src/virtual/call-router.ts",
    from: "(routed.isResent ? RESENT : 0)",
    to: "0",
  },
  {
    name: "resent-to-the-next-owner",
    about: "a call that was sent to a node that is gone is resent, though it may have been run there",
    breaks: "once at most",
    workload: "activation",
    file: "src/virtual/call-routing.ts",
    from: `failures.push({ kind: "fail", routed, because: "node-gone" });`,
    to: "this.#resend(routed);",
  },
  {
    name: "waiting-calls-delivered-twice",
    about: "calls that waited for an activation are delivered to it, and again when the actor is resolved",
    breaks: "once at most",
    workload: "activation",
    file: "src/virtual/call-admission.ts",
    from: "calls.waiting = []; return waiting;",
    to: "return waiting;",
  },
  {
    name: "ended-call-stays-routed",
    about: "a call that has ended stays in the routing of its actor, which is never over",
    breaks: "routes left",
    workload: "activation",
    file: "src/virtual/call-router.ts",
    from: "if (route !== undefined) this.#do(route, route.routing.ended(routed));",
    to: "",
  },
]

import type { Planting } from "./planting.js"

/** Bugs in how actors are placed, how their turns are taken, and how calls are brought to them. */
export const activationPlantings: readonly Planting[] = [
  {
    name: "unregister-of-anything",
    about: "an activation that ends unregisters whatever activation there is by then",
    breaks: "SingleActivation",
    workload: "activation",
    file: "src/registry/commits.ts",
    from: 'conditions: [{ kind: "at", key, revision: generation }],',
    to: "conditions: [],",
  },
  {
    name: "turn-without-a-wake-up",
    about: "a turn that ends does not wake what waits in the mailbox: that is left to the next message",
    breaks: "Convergence",
    workload: "activation",
    file: "src/virtual/turn-runner.ts",
    from: "this.#owner.turnEnded(); this.#resume();",
    to: "this.#owner.turnEnded();",
  },
  {
    name: "reply-after-fencing",
    about: "a reply leaves whatever its door says",
    breaks: "SingleActivation",
    workload: "activation",
    file: "src/virtual/turn-runner.ts",
    from: "if (this.#owner.tenure.mayAct()) return this.#conclude(turn, settled, true);",
    to: "return this.#conclude(turn, settled, true);",
  },
  {
    name: "sent-again-in-disorder",
    about: "calls that came back are sent again in another order than that in which they were made",
    breaks: "MailboxOrder",
    workload: "activation",
    file: "src/virtual/call-routing.ts",
    from: "this.#queue.sort((a, b) => a.call.order - b.call.order);",
    to: "this.#queue.sort((a, b) => b.call.order - a.call.order);",
  },
  {
    name: "call-without-a-maker",
    about: "a call forgets who made it: the door is asked when it is made, and never again",
    breaks: "SingleActivation: no call is sent whose maker was superseded",
    workload: "activation",
    file: "src/virtual/actor-target.ts",
    from: "this.maker = maker;",
    to: "this.maker = undefined;",
  },
  {
    name: "cycle-that-waits",
    about: "a call that comes back to an actor whose turn waits for it is not refused, but waits too",
    breaks: "a call that would wait for itself is refused",
    workload: "activation",
    file: "src/virtual/turn-runner.ts",
    from: "if (this.#mayAwaitCalls && (isCyclic(this, invocation) || wouldMix(this, invocation)))",
    to: "if (!this.#mayAwaitCalls && isCyclic(this, invocation))",
  },
]

import { join } from "node:path"
import { expect, test } from "vitest"
import { Claim, type ClaimCommand, type ClaimEvent, type PlacementSeen, type StateRead } from "./claim.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("nothing stands there, as was thought: one commit", undefined, [committed(9)]),
    conversation("an orphan, as was thought: one commit", at("b1", 5), [committed(9)]),
    conversation("this node's own, which runs no such activation: the generation is a new one", at("me", 5), [
      committed(9),
    ]),
    conversation("what the commit has read of the state goes with the generation", undefined, [
      committed(9, { entry: { key: "state/x", revision: 4, value: new Uint8Array() } }),
    ]),
    conversation("an earlier commit has read, and its answer was lost: the next one reads anew", undefined, [
      { kind: "unsure" },
      { kind: "read", placed: at("me", 5) },
      committed(9, { entry: undefined }),
    ]),
    conversation("somebody was faster, and is there", undefined, [
      refused({ placed: at("b1", 5) }),
      { kind: "node-read", isThere: true },
    ]),
    conversation("somebody was faster, and has gone since", undefined, [
      refused({ placed: at("b1", 5) }),
      { kind: "node-read", isThere: false },
      committed(9),
    ]),
    conversation("the node that was thought to be gone is there", at("b1", 5), [
      refused({ ownerRecord: true }),
    ]),
    conversation("the node that was thought to be gone is there, and the actor is not", at("b1", 5), [
      refused({ ownerRecord: true, placed: at("c1", 7) }),
      { kind: "node-read", isThere: true },
    ]),
    conversation("the orphan was released before", at("b1", 5), [
      refused({ placed: undefined }),
      committed(9),
    ]),
    conversation("this node's own has moved on: an earlier commit of its own came late", at("me", 5), [
      refused({ placed: at("me", 7) }),
      committed(9),
    ]),
    conversation("a refusal that found everything as thought is tried again", at("b1", 5), [
      refused({}),
      committed(9),
    ]),
    conversation("this node is no member: whatever else was found", undefined, [
      refused({ ownRecord: false, placed: at("b1", 5) }),
    ]),
    conversation("the answer was lost, and the commit was made: it is taken over from itself", undefined, [
      { kind: "unsure" },
      { kind: "read", placed: at("me", 5) },
      committed(9),
    ]),
    conversation("the answer was lost, and the commit comes after the read", undefined, [
      { kind: "unsure" },
      { kind: "read", placed: undefined },
      refused({ placed: at("me", 5) }),
      committed(9),
    ]),
    conversation("the answer was lost, and somebody else has it", undefined, [
      { kind: "unsure" },
      { kind: "read", placed: at("b1", 5) },
      { kind: "node-read", isThere: true },
    ]),
    conversation("the store does not answer: to a commit", undefined, [{ kind: "failed" }]),
    conversation("the store does not answer: to a read", undefined, [
      { kind: "unsure" },
      { kind: "failed" },
      { kind: "failed" },
    ]),
    conversation("the store does not answer: when asked for a node", undefined, [
      refused({ placed: at("b1", 5) }),
      { kind: "failed" },
    ]),
    conversation(
      "others come first again and again: somebody has it then, or has just let it go",
      undefined,
      [...Array.from({ length: 16 }, (_, turn) => refused({ placed: at("me", turn + 1) }))],
    ),
    conversation("answers to what was not asked change nothing", undefined, [
      { kind: "read", placed: at("me", 5) },
      { kind: "node-read", isThere: false },
      { kind: "unsure" },
      committed(9),
      refused({ ownRecord: false }),
      { kind: "unsure" },
      { kind: "node-read", isThere: false },
      { kind: "read", placed: at("b1", 5) },
      committed(9),
      { kind: "read", placed: undefined },
      committed(9),
      refused({}),
      { kind: "failed" },
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "claim.golden.txt"),
  )
})

const HEAD = `The node "me" claims an actor. A placement is told as node@generation.

what comes                                                         what is to be done
`

/**
 * Each line is told by a claim that was made from the snapshot of the one before: there is nothing else that
 * it knows.
 */
function conversation(
  title: string,
  guess: PlacementSeen | undefined,
  events: readonly ClaimEvent[],
): string {
  let claim = new Claim("me")
  const told = [`# ${title}`, row(`begins, with ${seenText(guess)} in mind`, claim.begin(guess))]
  for (const event of events) {
    claim = new Claim("me", claim.snapshot)
    told.push(row(eventText(event), claim.handle(event)))
  }
  return `${told.join("\n")}\n`
}

function row(what: string, command: ClaimCommand | undefined): string {
  return `${what.padEnd(65)}  ${command === undefined ? "" : `-> ${commandText(command)}`}`.trimEnd()
}

function eventText(event: ClaimEvent): string {
  switch (event.kind) {
    case "committed":
      return `committed, generation ${event.generation}${stateText(event.state)}`
    case "refused":
      return `refused: ${[
        event.ownRecord ? "" : "own record is another",
        event.ownerRecord ? "owner is there" : "",
        event.placed === "as thought" ? "placed as thought" : `${seenText(event.placed)} stands there`,
      ]
        .filter((part) => part !== "")
        .join(", ")}`
    case "read":
      return `read: ${seenText(event.placed)}`
    case "node-read":
      return `node-read: ${event.isThere ? "there" : "gone"}`
    default:
      return event.kind
  }
}

function commandText(command: ClaimCommand): string {
  switch (command.kind) {
    case "take": {
      const { guess } = command
      if (guess.kind === "nothing") return "take from nobody"
      return `take from ${guess.kind === "own" ? "itself" : `orphan of ${guess.node}`} at ${guess.generation}`
    }
    case "read-node":
      return `read-node ${command.node}`
    case "end": {
      const { outcome } = command
      const what =
        outcome.kind === "claimed"
          ? `, generation ${outcome.generation}${stateText(outcome.state)}`
          : outcome.kind === "elsewhere"
            ? `, ${seenText(outcome.placed)}`
            : ""
      return `end: ${outcome.kind}${what}`
    }
    default:
      return command.kind
  }
}

function stateText(state: StateRead | undefined): string {
  if (state === undefined) return ""
  return state.entry === undefined ? ", no state" : `, state at ${state.entry.revision}`
}

function seenText(placed: PlacementSeen | undefined): string {
  return placed === undefined ? "nothing" : `${placed.node}@${placed.generation}`
}

function at(node: string, generation: number): PlacementSeen {
  return { node, generation }
}

function committed(generation: number, state?: StateRead): ClaimEvent {
  return { kind: "committed", generation, state }
}

/** Unless said otherwise, nothing is wrong with it. */
function refused(found: Partial<ClaimEvent & { kind: "refused" }>): ClaimEvent {
  return { kind: "refused", ownRecord: true, ownerRecord: false, placed: "as thought", ...found }
}

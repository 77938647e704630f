import { join } from "node:path"
import { expect, test } from "vitest"
import { OutputGate } from "./output-gate.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("nothing is stored, and nothing waits", ["answer r1", "send"]),
    conversation("a turn is stored before its answer leaves", [
      ...["turn t1", "answer t1", "send", "committed"],
    ]),
    conversation("what is only sent is not stored", ["turn t1", "send", "answer t1", "answer r1"]),
    conversation("turns that end while a commit is in flight share the next one", [
      ...["turn t1", "answer t1", "send", "turn t2", "answer t2", "send", "turn t3", "answer t3"],
      ...["committed", "send", "committed", "send"],
    ]),
    conversation("turns that end before a commit is sent share it", [
      ...["turn t1", "answer t1", "turn t2", "answer t2", "send", "committed"],
    ]),
    conversation("an answer that changes nothing waits for the turns that ended before it, and no longer", [
      ...["turn t1", "answer t1", "answer r1", "send", "answer r2", "turn t2", "answer t2", "committed"],
      ...["answer r3", "send", "committed", "answer r4"],
    ]),
    conversation("a commit that is lost takes those behind it with it, in their order, and nothing follows", [
      ...["turn t1", "answer t1", "send", "turn t2", "answer t2", "answer r1", "lost", "send"],
    ]),
    conversation("what ends after a commit was lost is neither sent nor held: the doors are shut", [
      ...["turn t1", "answer t1", "send", "lost", "turn t2", "answer t2", "send"],
    ]),
    conversation("a batch that has no room for a turn is closed, and another one is begun", [
      ...["turn t1 2", "turn t2 2", "answer t2", "turn t3 1", "answer t3", "send", "committed"],
      ...["send", "committed"],
    ]),
    conversation("a batch in flight is not closed again", [
      ...["turn t1 3", "answer t1", "send", "turn t2 3", "answer t2", "turn t3 1", "answer t3", "committed"],
      ...["send", "turn t4 1", "answer t4", "committed", "send", "committed"],
    ]),
    conversation("a turn that has more than a batch has one of its own", [
      ...["turn t1 1", "turn t2 9", "turn t3 1", "answer t3", "send", "committed", "send", "committed"],
      ...["send", "committed"],
    ]),
    conversation("bytes count as writes do", ["turn t1 1 60", "turn t2 1 60", "turn t3 1 40", "send"]),
    conversation("a batch whose first turn is not answered holds what others say", [
      ...["turn t1", "answer r1", "send", "committed"],
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "output-gate.golden.txt"),
  )
})

const HEAD = `A batch has room for 3 writes and 100 bytes. "turn t1 2 60" decides 2 writes of 60 bytes (1 and 10 unless it says
so). "answer r1" is the answer of a turn that decides nothing. A batch is told as its turns.

what comes         what is to be done                       not decided
`

function conversation(title: string, events: readonly string[]): string {
  const gate = new OutputGate<string, string[]>({ maxWrites: 3, maxBytes: 100 })
  const told = events.map((event) => {
    const done = handle(gate, event)
    return `${event.padEnd(17)}  ${done.join(", ").padEnd(39)}  ${gate.undecided}${gate.isOpen ? ", open" : ""}`
  })
  return `${[`# ${title}`, ...told].join("\n")}\n`
}

function handle(gate: OutputGate<string, string[]>, event: string): readonly string[] {
  const [kind, name = "", writes = "1", bytes = "10"] = event.split(" ")
  const done: string[] = []
  switch (kind) {
    case "turn": {
      const size = { writes: Number(writes), bytes: Number(bytes) }
      gate.reserve(size, (full) => done.push(`close ${batch(full)}`))
      const content = gate.contribute(size, () => [])
      content.push(name)
      return [...done, `in ${batch(content)}`]
    }
    case "answer":
      return [gate.hold(name) ? "hold" : "let out"]
    case "send": {
      const content = gate.next()
      return content === undefined ? [] : [`commit ${batch(content)}`]
    }
    case "committed":
      return gate.committed().map((held) => `let out ${held}`)
    default:
      return gate.lost().map((held) => `fail ${held}`)
  }
}

function batch(turns: readonly string[]): string {
  return `[${turns.join(" ")}]`
}

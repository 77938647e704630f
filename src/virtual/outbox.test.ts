import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Message } from "./message.js"
import { Outbox, type OutboxCommand, type OutboxEvent } from "./outbox.js"

const FILE = join(import.meta.dirname, "outbox.golden.txt")

test("decides as its golden conversations say", async () => {
  const told = readFileSync(FILE, "utf8")
    .split("\n\n")
    .map((part) => (part.startsWith("# ") ? conversation(part.split("\n")) : part))
  await expect(told.join("\n\n")).toMatchFileSnapshot(FILE)
})

/** Plays the events of a conversation, and tells it with the commands that they lead to. */
function conversation([title, ...lines]: readonly string[]): string {
  const outbox = new Outbox(2)
  let sent = 0
  const told = lines
    .filter((line) => line !== "")
    .map((line) => {
      const said = (line.split("->")[0] as string).trim()
      const [time, kind, ...rest] = said.split(/\s+/) as [string, string, ...string[]]
      const messages = (kind === "stored" ? rest : []).map((key): Message => {
        sent += 1
        return { number: sent, type: "T", key, method: "m", args: new Uint8Array(0) }
      })
      const to = `T/${rest[0]}`
      const event = (kind === "stored" ? { kind, messages } : { kind, to, error: "why" }) as OutboxEvent
      const commands = outbox.handle(event, Number(time)).map(commandText)
      const state = outbox.isStuck ? "all stuck" : outbox.isDelivering ? "" : "idle"
      const after = [...commands, ...(state === "" ? [] : [`(${state})`])].join(", ")
      return `${time.padStart(6)}  ${[kind, ...rest].join(" ").padEnd(22)} -> ${after}`.trimEnd()
    })
  return [title, ...told].join("\n") + (lines.at(-1) === "" ? "\n" : "")
}

function commandText(command: OutboxCommand): string {
  switch (command.kind) {
    case "deliver":
      return `deliver ${command.message.number} to ${command.message.key}${command.isRepeat ? " again" : ""}`
    case "tell":
      return `tell of ${command.message.number}`
    case "wait":
      return `wait ${command.ms} for ${command.to.slice(2)}`
    case "report":
      return `report ${command.message.number} after ${command.failures}`
    case "delete":
      return `delete ${command.number}`
  }
}

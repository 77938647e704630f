import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import { endingOf, outputOf } from "../child-process.js"
import { within } from "../within.js"
import { environment } from "./command.js"

const DEADLINE_MS = 30_000

type Command = readonly string[]
type Commands = readonly [Command, Command, Command]

/**
 * Runs the tutorial's chat room in three processes, kills the process that has the room, and waits until what one
 * of the others says is shown by the third. Each command is followed by the name of a person. Returns how long the
 * answer took after the kill.
 */
export async function chatSession(commands: Commands, scratch: string): Promise<string> {
  const folder = mkdtempSync(join(scratch, "chat-"))
  const names = ["ada", "ben", "eve"] as const
  const people = names.map((name, index) => new Person(name, commands[index] ?? [], folder))
  try {
    await Promise.all(people.map((person) => person.prints(`${person.name} has joined`)))
    people[0]?.type("hello")
    await Promise.all(people.map((person) => person.prints("ada: hello")))

    const pid = Number(/lobby is in process (\d+)/.exec(people[0]?.output() ?? "")?.[1])
    const host = people.find((person) => person.pid === pid)
    const [speaker, listener] = people.filter((person) => person !== host)
    if (host === undefined || speaker === undefined || listener === undefined) {
      throw new Error(`the lobby is in process ${pid}, which is none of ${people.map((one) => one.pid)}`)
    }
    const killedAt = performance.now()
    host.kill()
    speaker.type("still here?")
    await listener.prints(`${speaker.name}: still here?`)
    const tookMs = performance.now() - killedAt

    for (const person of [speaker, listener]) await person.leaves()
    return `one of three processes killed, the others answer after ${tookMs.toFixed(0)} ms`
  } finally {
    for (const person of people) person.kill()
  }
}

class Person {
  readonly name: string
  readonly output: () => string
  readonly #child: ChildProcess
  readonly #ending: Promise<string>

  constructor(name: string, [file = "", ...args]: Command, folder: string) {
    this.name = name
    this.#child = spawn(file, [...args, name], { cwd: folder, env: environment() })
    this.output = outputOf(this.#child)
    this.#ending = endingOf(this.#child)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  type(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }

  /** Resolves once this text was printed. */
  async prints(text: string): Promise<void> {
    const printed = new Promise<void>((resolve, reject) => {
      const look = () => {
        if (this.output().includes(text)) resolve()
      }
      look()
      this.#child.stdout?.on("data", look)
      void this.#ending.then((ending) => reject(new Error(`${this.name}: ${ending}\n${this.output()}`)))
    })
    await within(DEADLINE_MS, () => `${this.name} prints "${text}"; so far:\n${this.output()}`, printed)
  }

  /** Ends the input, at which the program ends by itself. */
  async leaves(): Promise<void> {
    this.#child.stdin?.end()
    const ending = await within(
      DEADLINE_MS,
      () => `${this.name} leaves; so far:\n${this.output()}`,
      this.#ending,
    )
    if (ending !== "exit code 0") throw new Error(`${this.name}: ${ending}\n${this.output()}`)
  }
}

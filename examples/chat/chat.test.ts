import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { Program } from "../../tools/cluster/program.js"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"

/** The examples import `troupe`, so their folder is a package of that name, whose exports are compiled with them. */
const built = await compiledOnce({
  name: "chat",
  config: "examples/chat/tsconfig.json",
  sources: ["examples/chat", "src"],
})
const manifest = {
  name: "troupe",
  type: "module",
  exports: { ".": "./src/index.js", "./sqlite": "./src/stores/sqlite/index.js" },
}
writeFileSync(join(built, "package.json"), JSON.stringify(manifest))

const DEADLINE_MS = 30_000

describe("the tutorial's first program", () => {
  it("has two rooms, of which one was written to", async () => {
    const program = new Program(join(built, "examples/chat/first.js"))
    expect(await program.ending).toBe("exit code 0")
    expect(program.stdout).toBe("1\n[ { author: 'ada', text: 'is anybody here?' } ]\n[]\n")
  })
})

describe("the tutorial's chat room", () => {
  it("goes on in another process when the one that it is in is killed", async () => {
    const start = starter()
    const people = await Promise.all(["ada", "ben", "eve"].map(start))
    people[0]?.program.type("hello")
    await Promise.all(people.map(({ program }) => program.untilItPrints("ada: hello", DEADLINE_MS)))

    const { host, others } = hostAmong(people)
    await host.program.kill()
    const [first, second] = others
    first?.program.type("still here?")
    await second?.program.untilItPrints(`${first?.name}: still here?`, DEADLINE_MS)
    second?.program.type("/where")
    await second?.program.untilItPrints("\nlobby is in process", DEADLINE_MS)
    const survivors = others.map(({ program }) => program.pid)
    expect(survivors).toContain(lastHost(second?.program.stdout ?? ""))

    const back = await start(host.name)
    expect(back.program.stdout).toContain(`ada: hello\n${first?.name}: still here?\n${host.name} has joined`)
    for (const { program } of [...others, back]) program.endInput()
    expect(await Promise.all([...others, back].map(({ program }) => program.ending))).toEqual([
      "exit code 0",
      "exit code 0",
      "exit code 0",
    ])
  })

  it("is left in an orderly way when the process is told to end", async () => {
    const [ada, ben] = await Promise.all(["ada", "ben"].map(starter()))
    ada?.program.signal("SIGTERM")
    expect(await ada?.program.ending).toBe("exit code 0")
    ben?.program.type("alone")
    await ben?.program.untilItPrints("ben: alone", DEADLINE_MS)
  })
})

interface Person {
  readonly name: string
  readonly program: Program
}

/** Returns a function that starts the program of a person, all in one folder. It resolves when the person has joined. */
function starter(): (name: string) => Promise<Person> {
  const folder = temporaryFolder()
  const programs: Program[] = []
  onTestFinished(async () => {
    await Promise.all(programs.map((program) => program.kill()))
    folder.remove()
  })
  return async (name) => {
    const program = new Program(join(built, "examples/chat/chat.js"), {
      args: [name],
      shell: `cd '${folder.path}'`,
      channel: false,
      input: true,
    })
    programs.push(program)
    await program.untilItPrints(`${name} has joined`, DEADLINE_MS)
    return { name, program }
  }
}

function hostAmong(people: readonly Person[]): { readonly host: Person; readonly others: readonly Person[] } {
  const pid = lastHost(people[0]?.program.stdout ?? "")
  const host = people.find(({ program }) => program.pid === pid)
  if (host === undefined) throw new Error(`nobody has the process ${pid}`)
  return { host, others: people.filter((person) => person !== host) }
}

/** Returns the process that the room was in when that was last said. */
function lastHost(output: string): number {
  return Number([...output.matchAll(/lobby is in process (\d+)/g)].at(-1)?.[1])
}

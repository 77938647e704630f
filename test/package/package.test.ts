import { execFile } from "node:child_process"
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, resolve as resolvePath, sep } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as source from "../../src/index.js"
import { apiReport } from "../../tools/api-report/api-report.js"
import { compile, project, type ScratchFolder, scratchFolder } from "../types/compiler.js"
import { deadLinks } from "./links.js"

/**
 * The package as a user gets it: packed from a copy of the project, so that `dist` is left to whoever is using it, and
 * unpacked into a program of its own.
 */
let folder: ScratchFolder
let files: string[]

beforeAll(async () => {
  folder = scratchFolder()
  const copy = join(folder.path, "project")
  for (const name of readdirSync(project).filter((one) => !notCopied.has(one))) {
    cpSync(join(project, name), join(copy, name), { recursive: true })
  }
  await run("npm", ["pack", "--pack-destination", folder.path], copy)
  const tarballs = readdirSync(folder.path).filter((name) => name.endsWith(".tgz"))
  expect(tarballs).toHaveLength(1)

  mkdirSync(installed(), { recursive: true })
  await run("tar", ["-xzf", join(folder.path, String(tarballs)), "--strip-components=1"], installed())
  folder.write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }))
  files = readdirSync(installed(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(installed().length + 1)
        .split(sep)
        .join("/"),
    )
})

afterAll(() => folder?.[Symbol.dispose]())

it("contains what is built, documents and examples, and nothing else", () => {
  expect(files).toEqual(expect.arrayContaining(["dist/index.js", "docs/stores.md", "spec/README.md"]))
  const others = files.filter(
    (file) =>
      !/^dist\/.+\.(js|js\.map|d\.ts)$|^(docs|examples|spec)\//.test(file) || /^dist.*\.test\./.test(file),
  )
  expect(others.sort()).toEqual([
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "package.json",
  ])
})

it("has about the size that docs/dependencies.md states", () => {
  const document = readFileSync(join(installed(), "docs/dependencies.md"), "utf8")
  const stated = Number(/^\| Troupe, unpacked +\| +([\d.]+) MB \|$/m.exec(document)?.[1])
  const bytes = files.map((file) => statSync(join(installed(), file)).size).reduce((sum, size) => sum + size)
  expect(bytes / 1e6).toBeGreaterThan(stated * 0.9)
  expect(bytes / 1e6).toBeLessThan(stated * 1.1)
})

it("has no dead links", () => {
  const pages = files.filter((file) => file.endsWith(".md"))
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.flatMap((page) => deadLinks(installed(), page))).toEqual([])
})

it.each(entryPoints())("exports from %s what the report of its interface says", async (name, types) => {
  const report = apiReport(types, (path) => readFileSync(join(installed(), path), "utf8"), "dist/index.d.ts")
  await expect(report).toMatchFileSnapshot(join(project, "api", `${name.replaceAll("/", "-")}.api.txt`))
})

it("has source maps that bring their sources along", () => {
  const maps = files.filter((file) => file.endsWith(".map"))
  expect(maps).toHaveLength(files.filter((file) => file.endsWith(".js")).length)
  for (const file of maps) {
    const map: SourceMap = JSON.parse(readFileSync(join(installed(), file), "utf8"))
    expect(map.sources.length, file).toBeGreaterThan(0)
    expect(
      map.sourcesContent?.filter((text) => typeof text === "string"),
      file,
    ).toHaveLength(map.sources.length)
    for (const path of map.sources) {
      const target = resolvePath(installed(), file, "..", map.sourceRoot ?? "", path)
      expect(target.startsWith(installed() + sep), `${file} points at ${path}`).toBe(true)
    }
  }
})

it("says nothing of the machine that it was built on", () => {
  const telling = files.filter((file) => readFileSync(join(installed(), file), "utf8").includes(project))
  expect(telling).toEqual([])
})

it("exports every name that the sources export", async () => {
  const names = await answer(`import * as troupe from "troupe"; say(Object.keys(troupe))`)
  expect(names).toEqual(Object.keys(source).sort())
  expect(names).toContain("ActorPath")
})

it("can be used", async () => {
  const program = `
    import { ActorPath } from "troupe"
    say(ActorPath.parse("TROUPE://prod/greeter"))`
  expect(await answer(program)).toBe("troupe://prod/user/greeter")
})

it("can be required from CommonJS, with every entry point that is not a program", async () => {
  folder.write(
    "program.cjs",
    `const names = ${JSON.stringify(entryPoints().map(([name]) => name))}.filter((name) => !name.endsWith("/worker"))
     console.log(JSON.stringify(names.map((name) => Object.keys(require(name)).length > 0)))`,
  )
  const loaded = JSON.parse(await run(process.execPath, ["program.cjs"], folder.path))
  expect(loaded.length).toBeGreaterThan(3)
  expect(new Set(loaded)).toEqual(new Set([true]))
})

it("keeps the state of actors in a SQLite file", async () => {
  const program = `
    import { Actor, ActorSystem, consoleLogger } from "troupe"
    import { sqliteStore } from "troupe/sqlite"
    class Counter extends Actor {
      static type = "Counter"
      initialState() { return 0 }
      async next() { this.state += 1; await this.save(); return this.state }
    }
    const logger = consoleLogger({ level: "error" })
    const store = sqliteStore({ file: "counter.db" })
    const system = await ActorSystem.start({ namespace: "package", actors: [Counter], store, logger })
    say(await system.actor(Counter, "runs").next())
    await system.stop()`
  expect([await answer(program), await answer(program)]).toEqual([1, 2])
})

it("lets nobody in but by its exports", async () => {
  const doors = ["address/actor-path", "address/actor-path.js", "src/index.js", "index.js", ...files]
  const codes = await answer(`
    const codes = {}
    for (const door of ${JSON.stringify(doors)}) {
      try {
        await import("troupe/" + door, door.endsWith(".json") ? { with: { type: "json" } } : undefined)
        codes[door] = "open"
      } catch (error) {
        codes[door] = error.code
      }
    }
    say(codes)`)
  const shut = doors.map((door) => [door, "ERR_PACKAGE_PATH_NOT_EXPORTED"])
  expect(codes).toEqual({ ...Object.fromEntries(shut), "package.json": "open" })
})

it("has declarations that a strict program compiles against", async () => {
  folder.write("good.ts", consumer)
  const doors = [
    "troupe/address/actor-path",
    "troupe/dist/index.js",
    "troupe/dist/index",
    "troupe/src/index.js",
  ]
  folder.write("bad.ts", doors.map((door) => `import {} from "${door}"\n`).join(""))
  const diagnostics = await compile(folder, {
    compilerOptions: consumerOptions,
    files: ["good.ts", "bad.ts"],
  })
  expect(diagnostics.map(({ file, line, code }) => `${file}:${line} ${code}`)).toEqual(
    doors.map((_, index) => `bad.ts:${index + 1} TS2307`),
  )
})

it("has a client that a page compiles against, without the types of Node", async () => {
  folder.write("room.ts", room)
  folder.write("page.ts", page)
  const diagnostics = await compile(folder, {
    compilerOptions: {
      ...{
        target: "ES2022",
        module: "ESNext",
        moduleResolution: "bundler",
        lib: ["ES2022", "DOM"],
        types: [],
      },
      ...{ strict: true, verbatimModuleSyntax: true, skipLibCheck: true },
    },
    files: ["page.ts"],
  })
  expect(diagnostics.map(({ file, line, code }) => `${file}:${line} ${code}`)).toEqual(["page.ts:11 TS2345"])
})

/** The entry points of the package, each with its declarations. */
function entryPoints(): [name: string, types: string][] {
  const { exports }: Manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"))
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [[join("troupe", path), target.types.slice("./".length)]],
  )
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

const notCopied = new Set([".git", "node_modules", "dist", "build", "coverage"])

const consumerOptions = {
  target: "ES2022",
  module: "NodeNext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
}

const consumer = `
import * as troupe from "troupe"
import { ActorPath, type Logger, TroupeError } from "troupe"
import manifest from "troupe/package.json" with { type: "json" }

const path: ActorPath = ActorPath.parse("troupe://prod/user/greeter")
export const uid: number | undefined = path.uid
export const logger: Logger = troupe.consoleLogger({ level: "warn" })
export const isOurs = (error: unknown): error is TroupeError => error instanceof TroupeError
export const version: string = manifest.version
`

const room = `
import { Actor } from "troupe"

export class Room extends Actor<{ lines: string[] }> {
  static readonly type = "Room"

  post(line: string) {
    return this.state.lines.push(line)
  }
}
`

const page = `
import { ActorCallError, connect } from "troupe/client"
import type { Room } from "./room.js"

const onState = (state: string) => {
  document.title = state
}
const client = connect("/actors", { token: () => Promise.resolve("t"), webSocket: WebSocket, onState })
const room = client.actor<Room>("Room", "lobby")
export const count: number = await room.post("hi")
await room.post(1)
export const isOpen = (error: unknown) => error instanceof ActorCallError && error.delivery === "unknown"
`

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly (string | null)[]
  readonly sourceRoot?: string
}

function installed(): string {
  return join(folder.path, "node_modules/troupe")
}

/** What a program of the consumer's, in a process of its own, has to say. */
async function answer(program: string): Promise<unknown> {
  folder.write("program.js", `const say = (what) => console.log(JSON.stringify(what))\n${program}`)
  return JSON.parse(await run(process.execPath, ["program.js"], folder.path))
}

function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd }, (failure, stdout, stderr) => {
      if (failure === null) resolve(stdout)
      else reject(new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`))
    })
  })
}

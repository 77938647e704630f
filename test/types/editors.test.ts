import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { compile, emitDeclarations, project, type ScratchFolder, scratchFolder } from "./compiler.js"
import { type Cursor, type Editor, ServiceEditor } from "./editor.js"
import { unexpectedOf, withoutDirectives } from "./expectations.js"
import { ServerEditor } from "./language-server.js"
import { olderCompilers } from "./older-compilers.js"

/** The declarations of the package as its users have them, and programs that use them. */
let folder: ScratchFolder
let server: ServerEditor
let services: ReadonlyMap<string, ServiceEditor>

beforeAll(async () => {
  folder = scratchFolder()
  await emitDeclarations(join(folder.path, "node_modules/troupe/dist"))
  folder.write("node_modules/troupe/package.json", readFileSync(join(project, "package.json"), "utf8"))
  folder.write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }))
  folder.write("bank.ts", bank)
  folder.write("main.ts", main)
  folder.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["bank.ts", "main.ts"] }))
  server = await ServerEditor.open(folder.path, programs)
  const texts = { ...programs, ...withoutDirectives(typeTests) }
  services = new Map(
    [...(await olderCompilers())].map(([version, ts]) => [
      version,
      new ServiceEditor(ts, folder.path, texts, compilerOptions),
    ]),
  )
  // The first run installs compilers.
}, 240_000)

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

const versions = ["5.4", "5.9", "7.0"]

function editorOf(version: string): Editor {
  return version === "7.0" ? server : (services.get(version) as Editor)
}

describe.each(versions)("through a handle, an editor with TypeScript %s", (version) => {
  it.each(["teller.deposit(1", "withOptions(teller, {}).deposit(2", "oneWay(teller).deposit(3"])(
    "finds the method: %s",
    async (call) => {
      expect(await editorOf(version).definitions(cursor(call))).toEqual(["bank.ts:13"])
    },
  )

  it("finds all uses of the method, from a handle and from the class", async () => {
    const uses = ["bank.ts:13", "main.ts:4", "main.ts:5", "main.ts:6"]
    expect((await editorOf(version).references(cursor("teller.deposit(1"))).toSorted()).toEqual(uses)
    const declared: Cursor = { file: "bank.ts", offset: bank.indexOf("deposit(amount") }
    expect((await editorOf(version).references(declared)).toSorted()).toEqual(uses)
  })

  it("renames the method and its uses", async () => {
    expect((await editorOf(version).renamed(cursor("oneWay(teller).deposit(3"))).toSorted()).toEqual([
      "bank.ts:13",
      "main.ts:4",
      "main.ts:5",
      "main.ts:6",
    ])
  })

  it("marks uses of a deprecated method, and no others", async () => {
    expect(await editorOf(version).deprecated("main.ts")).toEqual(["main.ts:7"])
  })

  it("shows type parameters and overloads of async methods", async () => {
    const editor = editorOf(version)
    expect(await editor.hover(cursor("picked"))).toContain("const picked: string | undefined")
    expect(await editor.hover(cursor("number"))).toContain("const number: number")
    expect(await editor.hover(cursor("text"))).toContain("const text: string")
  })

  it("shows the documentation of the method", async () => {
    const editor = editorOf(version)
    const shown = await Promise.all(
      ["teller.deposit(1", "teller.sum("].map((call) => editor.hover(cursor(call))),
    )
    // The server of TypeScript 7.0 shows no documentation for a member of any mapped type.
    const documentation = version === "7.0" ? [] : ["Adds an amount to the balance.", "@deprecated"]
    for (const [index, text] of documentation.entries()) expect(shown[index]).toContain(text)
    if (documentation.length === 0) expect(shown.join()).not.toContain("Adds an amount")
  })
})

describe.each(versions.slice(0, -1))("the declarations with TypeScript %s", (version) => {
  it("refuse exactly what is expected, with the expected error codes", () => {
    const diagnostics = services.get(version)?.diagnostics() ?? []
    const found = diagnostics.map((one) => ({ ...one, code: withoutReason(one.code) }))
    const expected = Object.entries(typeTests).map(([file, text]) => [file, withoutReason(text)])
    expect(unexpectedOf({ ...programs, ...Object.fromEntries(expected) }, found)).toEqual([])
  })
})

it("a program that exports actors has declarations, which name only what the package exports", async () => {
  const texts = { "exported.ts": exported, "anonymous.ts": anonymous }
  const path = join(folder.path, "exporting")
  const inner: ScratchFolder = {
    ...folder,
    path,
    write: (name, text) => folder.write(`exporting/${name}`, text),
  }
  for (const [name, text] of Object.entries(texts)) inner.write(name, text)
  const diagnostics = await compile(inner, {
    compilerOptions: { ...compilerOptions, declaration: true },
    files: Object.keys(texts),
  })
  const found = new Set(diagnostics.map(({ file, code }) => `${file} ${code}`))
  expect([...found]).toEqual(["anonymous.ts TS4094"])
})

const exported = `import { Actor, ActorSystem, type ActorSystemSettings, oneWay, provide, withOptions } from "troupe"

interface Database {
  query(text: string): Promise<unknown[]>
}

export class Orders extends Actor<{ n: number }, { db: Database }> {
  static readonly type = "Orders"
  protected override initialState() {
    return { n: 0 }
  }
  async count() {
    return (await this.dependencies.db.query("")).length
  }
}

export class Empty extends Actor {}
export const orders = (db: Database) => provide(Orders, { db })
export const start = (db: Database) => ActorSystem.start({ namespace: "prod", actors: [orders(db), Empty] })
export const handle = (system: ActorSystem) => system.actor(Orders, "a")
export const others = (system: ActorSystem) => [oneWay(handle(system)), withOptions(handle(system), {})] as const
export const listed = (settings: ActorSystemSettings) => [settings.actors, settings.types, settings] as const
export const typed = (actor: Actor<{ n: number }>) => [actor]
`

/** A class without a name has no declaration, which shows that the check can fail. */
const anonymous = `import { Actor } from "troupe"
export const orders = (db: object) => class extends Actor { protected get db() { return db } }
`

const bank = `import { Actor } from "troupe"

export class Bank extends Actor<{ balance: number }> {
  static readonly type = "Bank"

  protected override initialState() {
    return { balance: 0 }
  }

  /**
   * Adds an amount to the balance.
   */
  async deposit(amount: number) {
    this.state.balance += amount
    await this.save()
    return this.state.balance
  }

  /** @deprecated use deposit(0) */
  sum() {
    return this.state.balance
  }

  async pick<T>(from: readonly T[]): Promise<T | undefined> {
    return from[0]
  }

  async echo(text: string): Promise<string>
  async echo(number: number): Promise<number>
  async echo(of: string | number): Promise<string | number> {
    return of
  }
}
`

const main = `import { ActorSystem, oneWay, withOptions } from "troupe"
import { Bank } from "./bank.js"
export async function run(system: ActorSystem, teller = system.actor(Bank, "teller")) {
  await teller.deposit(1)
  await withOptions(teller, {}).deposit(2)
  oneWay(teller).deposit(3)
  await teller.sum()
  const picked = await teller.pick(["a", "b"])
  const number = await teller.echo(1)
  const text = await teller.echo("a")
  return [picked, number, text]
}
`

/**
 * Of an argument that lacks a property, TypeScript 7 reports only the reason, and earlier versions the error.
 */
function withoutReason(text: string): string {
  return text.replaceAll(/TS274[01]/g, "TS2345")
}

/** The place of a call's method in the main program, or of the declaration of a variable. */
function cursor(at: string): Cursor {
  const start = main.indexOf(at)
  return { file: "main.ts", offset: start + (at.includes(".") ? at.lastIndexOf(".") + 1 : 0) }
}

const programs = { "bank.ts": bank, "main.ts": main }

const typeTests = Object.fromEntries(
  readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".types.ts"))
    .map((name) => {
      const text = readFileSync(join(import.meta.dirname, name), "utf8")
      return [name, text.replaceAll(/"\.\.\/\.\.\/src\/(?:(\w+)\/)?index\.js"/g, packaged)]
    }),
)

/** Options that all these compilers have. */
const compilerOptions = {
  target: "ES2022",
  lib: ["ES2023", "ESNext.Disposable"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  noEmit: true,
}

/** The name by which users import an entry point. */
function packaged(_path: string, folder: string | undefined): string {
  return folder === undefined ? `"troupe"` : `"troupe/${folder}"`
}

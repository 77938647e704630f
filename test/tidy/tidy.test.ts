import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"
import { describe, expect, it } from "vitest"
import { check, type SourceFile, type Violation } from "./check.js"
import { undocumented } from "./doc-comments.js"
import { needlessExports } from "./exports.js"
import { wideMarkdown } from "./markdown.js"

const project = join(import.meta.dirname, "../..")

const folders = ["src", "test", "bench", "workloads", "tools", "examples", "demo", "chaos", "spec"]

describe("the project", () => {
  it("follows the rules for code", () => {
    const files = folders.flatMap((folder) => filesUnder(folder, /\.[cm]?[jt]sx?$/))
    expect(files.map((file) => file.path)).toEqual(
      expect.arrayContaining(["src/index.ts", "test/tidy/tidy.test.ts", "bench/main.ts"]),
    )
    expect([...check(files), ...needlessExports(files), ...undocumented(files)].map(shown)).toEqual([])
  })

  it("follows the rules for documents", () => {
    const root = readdirSync(project).filter((name) => name.endsWith(".md"))
    const documents = [...folders, "docs"].flatMap((folder) => filesUnder(folder, /\.md$/))
    const files = [...root.map(fileAt), ...documents]
    expect(files.map((file) => file.path)).toEqual(
      expect.arrayContaining(["README.md", "docs/ARCHITECTURE.md", "examples/lost-update/README.md"]),
    )
    expect(wideMarkdown(files).map(shown)).toEqual([])
  })
})

describe("imports", () => {
  it("may not point to a folder below, in any syntax", () => {
    const text = `
      import { a } from "../actor/cell.js"
      import type { b } from "../actor/cell.js"
      import "../actor/cell.js"
      export { c } from "../actor/cell.js"
      export type { d } from "../actor/cell.js"
      export * from "../actor/cell.js"
      const e = () => import("../actor/cell.js")
      const f = () => import(\`../actor/cell.js\`)
      type G = import("../actor/cell.js").G
      import h = require("../actor/cell.js")`
    expect(complaints("src/address/path.ts", text)).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((line) => `src/address/path.ts:${line} import-direction`),
    )
  })

  it("may point to a folder above, or to the same folder", () => {
    const fromTheTop = `
      import { a } from "./mailbox.js"
      import { b } from "../address/path.js"
      import type { c } from "../errors/troupe-error.js"`
    expect(complaints("src/actor/cell.ts", fromTheTop)).toEqual([])
    const fromDeepInside = `
      import { a } from "../mailbox.js"
      import { b } from "../../address/path.js"`
    expect(complaints("src/actor/deep/cell.ts", fromDeepInside)).toEqual([])
  })

  it("follow the order of the folders", () => {
    const order =
      "errors ports address actor serialization remote membership registry placement virtual sharding system " +
      "client gateway runtime stores sim/ambient sim cli"
    const all = [...order.split(" ").map((folder) => `src/${folder}/file.ts`), "src/index.ts"]
    for (const [depth, path] of all.entries()) {
      const up = path === "src/index.ts" ? "./" : "../".repeat(path.split("/").length - 2)
      const text = all.map((target) => `import type { X } from "${target.replace("src/", up)}"`).join("\n")
      const refused = all.slice(depth + 1).map((_, below) => `${path}:${depth + below + 2} import-direction`)
      expect(complaints(path, text)).toEqual(refused)
    }
  })

  it("may not leave src", () => {
    expect(complaints("src/cli/main.ts", `\nimport json from "../../package.json"`)).toEqual([
      "src/cli/main.ts:2 import-outside",
    ])
  })

  it("are refused in and from a folder that is not listed", () => {
    expect(complaints("src/attic/box.ts", "export const box = 1")).toEqual(["src/attic/box.ts:1 folder"])
    expect(complaints("src/cli/main.ts", `\nimport "../attic/box.js"`)).toEqual(["src/cli/main.ts:2 folder"])
  })

  it("of Node are allowed only in the folders that implement ports", () => {
    const text = `
      import { connect } from "node:net"
      import fs from "fs"
      import { setTimeout as wait } from "timers/promises"
      import type { DatabaseSync } from "node:sqlite"`
    expect(complaints("src/remote/tcp.ts", text)).toEqual(
      [2, 3, 4, 5].map((line) => `src/remote/tcp.ts:${line} import-builtin`),
    )
    expect(complaints("src/sim/tcp.ts", text)).toHaveLength(4)
    for (const folder of ["runtime", "stores", "sim/ambient", "cli"])
      expect(complaints(`src/${folder}/tcp.ts`, text)).toEqual([])
  })

  it("of packages are refused", () => {
    const text = `
      import pg from "pg"
      import type { X } from "@scope/name/deep"
      import { ActorSystem } from "troupe"
      import "#inside"`
    for (const path of ["src/stores/postgres.ts", "src/actor/cell.ts", "src/index.ts"]) {
      expect(complaints(path, text)).toEqual([2, 3, 4, 5].map((line) => `${path}:${line} import-package`))
    }
  })

  it("are literals, except where users name the module", () => {
    const text = `\nexport const load = (name: string) => import(\`../actor/\${name}.js\`)`
    expect(complaints("src/actor/cell.ts", text)).toEqual(["src/actor/cell.ts:2 import-computed"])
    expect(complaints("src/cli/run.ts", text)).toEqual([])
  })
})

describe("ports", () => {
  it("contain no code that exists at run time", () => {
    const text = `
      import { TroupeError } from "../errors/troupe-error.js"
      import { type TroupeError as E } from "../errors/troupe-error.js"
      export const one = 1
      export function two() {}
      export class Three {}
      export enum Four { five }
      export { six } from "./six.js"
      export * from "./seven.js"
      export default 8
      two()`
    expect(complaints("src/ports/clock.ts", text)).toEqual(
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((line) => `src/ports/clock.ts:${line} types-only`),
    )
    expect(complaints("src/address/path.ts", text)).toEqual([])
  })

  it("may contain types of every kind", () => {
    const text = `
      import type { TroupeError } from "../errors/troupe-error.js"
      declare const brand: unique symbol
      export type Id = string & { [brand]?: 1 }
      export interface Clock { setTimeout(process: number): typeof setTimeout }
      interface Hidden {}
      export type { Hidden }
      export type * from "./timer.js"
      export declare const Temporary: Hidden`
    expect(complaints("src/ports/clock.ts", text)).toEqual([])
  })
})

describe("globals with outside effects", () => {
  const path = "src/membership/gossip.ts"

  it.each(
    `setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask performance process crypto
     console fetch WebSocket EventSource MessageChannel BroadcastChannel Worker SharedArrayBuffer Atomics WebAssembly require
     eval Function globalThis global navigator localStorage Temporal`.split(/\s+/),
  )("include %s", (name) => {
    const uses = ["NAME(1)", "new NAME(1)", "NAME.member", "NAME['x']", "f(NAME)", "typeof NAME", "x = NAME"]
    const more = [
      "({ NAME })",
      "[...NAME]",
      "(NAME as any)()",
      "x instanceof NAME",
      "{ let { a = NAME } = x }",
    ]
    const text = [...uses, ...more].join(";\n").replaceAll("NAME", name)
    const lines = [...uses, ...more].map((_, index) => `${path}:${index + 1} ambient`)
    expect(complaints(path, text)).toEqual(lines)
    expect(complaints("src/runtime/node.ts", text)).toEqual([])
    expect(complaints("src/sim/world.ts", text)).toHaveLength(lines.length)
  })

  it("include some members of Math, Date and AbortSignal", () => {
    const refused = [
      "Math.random()",
      "Math['random']()",
      "Math?.random()",
      "(Math).random()",
      "(Math as any).random()",
      "Math!.random()",
      "const { random } = Math",
      "const mathematics = Math",
      "Date()",
      "new Date()",
      "new Date",
      "new Date(...[])",
      "Date.now()",
      "const { now } = Date",
      "const time = Date.now",
      "f(Date)",
      "class Day extends Date {}",
      "AbortSignal.timeout(5)",
      "AbortSignal['timeout'](5)",
      "const { timeout } = AbortSignal",
    ]
    expect(complaints(path, refused.join("\n"))).toEqual(
      refused.map((_, index) => `${path}:${index + 1} ambient`),
    )
    expect(complaints("src/stores/file.ts", refused.join("\n"))).toEqual([])
  })

  it("do not include names that are similar or harmless", () => {
    const text = `
      Math.floor(1) + Math.PI
      new Date(0), new Date(2024, 1), Date.UTC(2024), Date.parse("x"), Date.prototype.toISOString
      x instanceof Date, x instanceof AbortSignal, AbortSignal.any([]), AbortSignal.abort(), new AbortController()
      clock.setTimeout(1), clock?.process, clock.Date.now(), this.console, clock.Math.random()
      const plain = { process: 1, setTimeout() {}, get console() { return 1 }, Math: 2 }
      const { process: renamed, Date: when } = x
      class Cell { process = 1; static fetch() {}; #crypto = 2; performance(): void {} }
      process: for (;;) { if (x) continue process; break process }
      type A = typeof setTimeout | Date | Function | typeof Math.random
      interface Worker { process: typeof globalThis; fetch(crypto: Date): void }
      import type { Worker as Process } from "./work.js"
      import { type console, fetch as get } from "./work.js"
      export { process } from "./work.js"
      export type { Worker }
      const late = (at: Date, f: Function): at is Date => f as unknown as Worker
      class Job implements Worker {}
      const text = "setTimeout(process)" // setTimeout(process)`
    expect(complaints(path, text)).toEqual([])
  })

  it("may not be shadowed by a local of the same name", () => {
    const text = `
      const process = 1
      function f(setTimeout: unknown) {}
      const g = (console = 1) => 1
      const { a: [fetch], ...crypto } = x
      class Worker {}
      function performance() {}
      try {} catch (global) {}
      import { navigator } from "./work.js"
      import { x as Math } from "./work.js"
      import Date from "./work.js"
      import * as AbortSignal from "./work.js"
      const h = class Function {}
      for (const require of x) {}
      class Cell { constructor(readonly Temporal: 1) {} }
      declare const localStorage: 1`
    const lines = [2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    expect(complaints(path, text)).toEqual(lines.map((line) => `${path}:${line} shadow`))
  })
})

describe("tests", () => {
  const text = `
      it.skip("a", () => {})
      describe.only("b", () => {})
      test.todo("c")
      it.concurrent.only("d", () => {})
      it.skip.each([1])("e", () => {})
      it.each([1]).only("f", () => {})
      it["skip"]("g", () => {})
      it("h", { skip: true }, () => {})
      describe("i", { "only": focus }, () => {})`

  it("may not be skipped or focused, in any folder", () => {
    for (const path of ["src/actor/cell.test.ts", "src/actor/cell.ts", "test/sim.test.ts", "bench/row.ts"]) {
      expect(complaints(path, text)).toEqual(
        [2, 3, 4, 5, 6, 7, 8, 9, 10].map((line) => `${path}:${line} focus`),
      )
    }
  })

  it("may use other options, and other code may use these names", () => {
    const fine = `
      it("only skips todo", { timeout: 5, skip: false }, () => {})
      iterator.skip(1)
      actor.only.it("x")
      it.each([1])("y", () => stream.skip(2))
      latest({ skip: true })`
    expect(complaints("test/sim.test.ts", fine)).toEqual([])
  })

  it("are exempt from all other rules", () => {
    const free = `
      import { it } from "vitest"
      import fs from "node:fs"
      import "../cli/main.js"
      setTimeout(process.exit, Math.random())
      class TestManager {}`
    expect(complaints("src/actor/utils.test.ts", free)).toEqual([])
    expect(complaints("src/actor/cell.ts", free)).toHaveLength(7)
    expect(complaints("bench/main.ts", free)).toEqual([])
  })
})

describe("names", () => {
  it.each(["utils", "helpers", "common", "types"])("may not be %s", (name) => {
    for (const path of [`src/runtime/${name}.ts`, `src/runtime/${name}.d.ts`, `src/runtime/${name}/tcp.ts`]) {
      expect(complaints(path, "export {}")).toEqual([`${path}:1 file-name`])
    }
    expect(complaints(`src/runtime/uncommon-${name}.ts`, "export {}")).toEqual([])
  })

  it("of classes may not end in a vague word", () => {
    const text = `
      class LeaseManager {}
      export default class ActorService {}
      const x = class CellImpl {}
      const StoreBase = class {}`
    expect(complaints("src/actor/cell.ts", text)).toEqual(
      [2, 3, 4, 5].map((line) => `src/actor/cell.ts:${line} class-name`),
    )
    const fine = `class Database {}; class ManagerOfNone {}; interface NameService {}; const fooImpl = 1`
    expect(complaints("src/actor/cell.ts", fine)).toEqual([])
  })
})

describe("sizes", () => {
  it("of a file are at most 400 lines", () => {
    const lines = (count: number) => "f()\n".repeat(count)
    expect(complaints("src/actor/cell.ts", lines(400))).toEqual([])
    expect(complaints("src/actor/cell.ts", lines(401))).toEqual(["src/actor/cell.ts:1 file-length"])
    expect(complaints("src/actor/cell.test.ts", lines(401))).toEqual([])
  })

  it("of a comment are at most 110 columns, in any syntax", () => {
    const fits = "x".repeat(100)
    const wide = "x".repeat(110)
    const text = `// ${fits}
      // ${wide}
      /** ${wide} */
      /**
       * ${fits}
       * ${wide}
       */
      const one = 1 // ${wide}
      const two = "${wide}"`
    expect(complaints("src/actor/cell.ts", text)).toEqual(
      [2, 3, 6, 8].map((line) => `src/actor/cell.ts:${line} comment-width`),
    )
  })
})

describe("Markdown", () => {
  function wide(...lines: string[]): string[] {
    return wideMarkdown([{ path: "docs/page.md", text: lines.join("\n") }]).map(
      ({ line, rule, advice }) => `${line} ${rule}: ${advice}`,
    )
  }
  const words = (columns: number) => "word ".repeat(columns / 5 + 1).slice(0, columns)
  const wrap = "markdown-width: Wrap the line at 100 columns."

  it("has at most 100 columns", () => {
    expect(wide(words(100), words(101), `- ${words(98)}`, `- ${words(99)}`)).toEqual([
      `2 ${wrap}`,
      `4 ${wrap}`,
    ])
  })

  it("has no table rows that are wider", () => {
    const row = (columns: number) => `| a | ${"b".repeat(columns - 8)} |`
    expect(wide(row(100), row(101))).toEqual([
      "2 markdown-width: Shorten the row to 100 columns, or turn the table into a list.",
    ])
  })

  it("may have wide code blocks, and links that cannot be wrapped", () => {
    const link = `https://example.com/${"x".repeat(100)}`
    expect(wide(link, `- [link](${link})`, `2. ${link}`, `see ${link}`)).toEqual([`4 ${wrap}`])
    expect(wide("```ts", words(120), "~~~", words(120), "```")).toEqual([])
    expect(wide("~~~", "```", words(120), "~~~", words(120))).toEqual([`5 ${wrap}`])
    expect(wide("````md", "```", words(120), "```", "````", words(120))).toEqual([`6 ${wrap}`])
  })
})

describe("exports", () => {
  const text = `
      export const one = 1, two = 2
      export function three() {}
      export class Four {}
      export interface Five {}
      export type Six = 6
      const seven = 7
      export { seven, seven as eight }`

  function needless(...others: [string, string][]): string[] {
    const files = [["src/actor/cell.ts", text], ...others].map(([path = "", text = ""]) => ({ path, text }))
    return needlessExports(files).map(
      ({ file, line, advice }) => `${file}:${line} ${advice.split(" ").at(-1)}`,
    )
  }

  it("are used by another file", () => {
    expect(needless()).toEqual(
      ["2 one.", "2 two.", "3 three.", "4 Four.", "5 Five.", "6 Six.", "8 seven.", "8 eight."].map(
        (found) => `src/actor/cell.ts:${found}`,
      ),
    )
    const user = `
      import { one, two as zwei, type Five } from "../src/actor/cell.js"
      export { three } from "../src/actor/cell.js"
      import type { Four, Six } from "../src/actor/cell.js"
      import { seven, eight } from "./cell.js"`
    expect(needless(["test/user.ts", user])).toEqual([
      "src/actor/cell.ts:8 seven.",
      "src/actor/cell.ts:8 eight.",
    ])
  })

  it.each([
    `import * as cell from "./cell.js"`,
    `export * from "./cell.js"`,
    `const cell = await import("./cell.js")`,
    `type One = typeof import("./cell.js").one`,
  ])("are all used by %s", (user) => {
    expect(needless(["src/actor/user.ts", user])).toEqual([])
  })

  it("of entry points and of tests may be unused", () => {
    for (const path of ["src/index.ts", "src/sim/index.ts", "test/fake/clock.ts"]) {
      expect(needlessExports([{ path, text }])).toEqual([])
    }
  })
})

describe("public names", () => {
  function missing(entry: string, cell = ""): string[] {
    const files = [
      { path: "src/index.ts", text: entry },
      { path: "src/actor/cell.ts", text: cell },
    ]
    return undocumented(files).map(({ file, line, advice }) => `${file}:${line} ${advice.split(" ")[5]}`)
  }

  it("have a doc comment where they are declared", () => {
    const cell = `
      /** Documented. */
      export const one = 1
      export const two = 2
      /* Not a doc comment. */
      export function three() {}
      /** Documented, before a remark. */
      // A remark.
      export interface Four {}
      /** Apart from its subject. */
      const hidden = 1
      export type Five = 5
      export class Six {}
      export const internal = hidden`
    const entry = `
      export { one, two, three as tre } from "./actor/cell.js"
      export type { Four, Five, Six } from "./actor/cell.js"
      export const seven = 7`
    expect(missing(entry, cell)).toEqual([
      "src/actor/cell.ts:4 two,",
      "src/actor/cell.ts:6 three,",
      "src/actor/cell.ts:12 Five,",
      "src/actor/cell.ts:13 Six,",
      "src/index.ts:4 seven,",
    ])
  })

  it("include the members of what is exported", () => {
    const entry = `
      /** A class. */
      export class Cell extends Base {
        /** Documented. */
        static of(): Cell
        static of(name?: string): Cell { return new Cell() }
        readonly name = "a"
        protected hook() {}
        private own() {}
        #hidden = 1
        readonly code = "Cell"
        override onStop() {}
        get size() { return 1 }
      }
      /** An interface. */
      export interface Settings {
        /** Documented. */
        readonly group?: { readonly inner: number }
        tell(): void
      }
      /** An object. */
      export const Cells = { make() {} } as const`
    expect(missing(entry)).toEqual([
      "src/index.ts:7 Cell.name,",
      "src/index.ts:8 Cell.hook,",
      "src/index.ts:13 Cell.size,",
      "src/index.ts:18 Settings.group.inner,",
      "src/index.ts:19 Settings.tell,",
      "src/index.ts:22 Cells.make,",
    ])
  })

  it("are followed through imports and other names", () => {
    const entry = `
      import { Cell as Room } from "./actor/cell.js"
      /** The cell. */
      export type Cell = Room
      export { Room as Other }`
    const cell = `
      /** A cell. */
      export class Cell { tell() {} }`
    expect(missing(entry, cell)).toEqual(["src/actor/cell.ts:3 Cell.tell,"])
    expect(missing(`export { Room } from "./actor/cell.js"`, `export class Room {}`)).toEqual([
      "src/actor/cell.ts:1 Room,",
    ])
  })
})

describe("the checker", () => {
  it("reports a syntax error", () => {
    expect(complaints("src/actor/cell.ts", "const a = 1\n\nconst = 2")).toEqual([
      "src/actor/cell.ts:3 syntax",
    ])
  })

  it("counts lines by characters, not bytes", () => {
    const text = "// é😀é😀é😀é😀é😀é😀é😀\n// ü\nprocess\n// 😀\n"
    expect(complaints("src/actor/cell.ts", text)).toEqual(["src/actor/cell.ts:3 ambient"])
  })

  it("gives advice", () => {
    const [violation] = check([{ path: "src/actor/cell.ts", text: "\nsetTimeout(f, 5)" }])
    expect(violation).toEqual({
      file: "src/actor/cell.ts",
      line: 2,
      rule: "ambient",
      advice: "Use a timer of the Clock port.",
    })
  })
})

function complaints(path: string, text: string): string[] {
  return check([{ path, text }]).map(({ file, line, rule }) => `${file}:${line} ${rule}`)
}

function shown({ file, line, rule, advice }: Violation): string {
  return `${file}:${line} ${rule}: ${advice}`
}

function filesUnder(folder: string, names: RegExp): SourceFile[] {
  return readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => names.test(name))
    .map((name) => fileAt(join(folder, name)))
}

function fileAt(path: string): SourceFile {
  return { path: path.split(sep).join("/"), text: readFileSync(join(project, path), "utf8") }
}

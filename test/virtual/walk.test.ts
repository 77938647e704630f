import { join, resolve } from "node:path"
import { expect, test } from "vitest"
import { type Hop, hopsOf } from "../../tools/walk/hops.js"
import { instrumented } from "../../tools/walk/instrumented.js"
import { remoteCallEntries } from "../../tools/walk/walk.js"

const root = resolve(import.meta.dirname, "../..")

test("the page about a remote call matches the functions that run, with at most 95 hops", {
  timeout: 120_000,
}, async () => {
  const stretches = hopsOf(await remoteCallEntries())
  expect(stretches.flat().length).toBeLessThanOrEqual(95)
  await expect(pageOf(stretches)).toMatchFileSnapshot(join(root, "docs/remote-call.md"))
})

test("instrumented functions report that they are entered, and behave as before", () => {
  const entered: string[] = []
  const text = instrumented(
    `class A { #b = (x) => ({ x }); get c() { return this.#d() } #d() { return this.#b(2) } constructor() { e() } }
     function e() { [1].map(function (y) { return y }) }
     const f = async () => new A().c.x
     result(f())`,
    "m",
  )
  let result: unknown
  new Function("globalThis", "result", text)(
    { entered: (module: string, name: string) => entered.push(`${module} ${name}`) },
    (value: unknown) => {
      result = value
    },
  )
  expect(entered).toEqual(["m f", "m new A", "m e", "m ", "m get A.c", "m A.#d", "m A.#b"])
  return expect(result).resolves.toBe(2)
})

test("a hop leads to another file; accessors and functions on bytes are not hops", () => {
  const entry = (depth: number, module: string, name: string) => ({ depth, module, name })
  const stretches = hopsOf([
    entry(1, "virtual/handle", "caller"),
    entry(2, "virtual/handles", "call"),
    entry(3, "virtual/handles", "#send"),
    entry(4, "virtual/copier", "copy"),
    entry(4, "virtual/call-router", "get calls"),
    entry(4, "serialization/text", "writeText"),
    entry(1, "runtime/node-connection", "data"),
    entry(2, "remote/session", "receive"),
  ])
  expect(stretches).toEqual([
    [
      { level: 0, module: "virtual/handle", name: "caller" },
      { level: 1, module: "virtual/handles", name: "call" },
      { level: 2, module: "virtual/copier", name: "copy" },
    ],
    [{ level: 0, module: "remote/session", name: "receive" }],
  ])
})

function pageOf(stretches: readonly (readonly Hop[])[]): string {
  const all = stretches.flat()
  const files = new Set(all.map(({ module }) => module)).size
  const titles = TITLES.length === stretches.length ? TITLES : stretches.map((_, at) => `Stretch ${at + 1}`)
  const parts = stretches.map(
    (hops, at) => `## ${titles[at]}\n\n\`\`\`text\n${hops.map(lineOf).join("\n")}\n\`\`\``,
  )
  return `${INTRODUCTION.replace("HOPS", String(all.length)).replace("FILES", String(files))}\n\n${parts.join("\n\n")}\n`
}

function lineOf({ level, module, name }: Hop): string {
  return `${"  ".repeat(level)}${module}  ${name === "" ? "(function)" : name}`
}

const TITLES = [
  "The call leaves",
  "The batch is written",
  "The other node receives the call",
  "The actor's turn",
  "The answer is written",
  "The answer arrives",
]

const INTRODUCTION = `# The walk of a remote call

The functions that run when a node calls an actor on another node, with the placement in its cache
and no other call in flight: HOPS hops through FILES files. \`test/virtual/walk.test.ts\` generates this
page from the functions that are entered in a real call between two nodes, and fails when they
change; run it with \`-u\` to regenerate the page.

A hop is a call from a function of one file to a function of another. Accessors are not counted, nor
are functions on bytes (the codec, batches, frames), on time (clocks, deadlines) and on errors. Each
part begins where the event loop or a microtask calls Troupe; an indented function is called by the
one above it. [The path of a call](registry.md#the-path-of-a-call) describes the same in words.`

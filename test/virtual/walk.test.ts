import { join, resolve } from "node:path"
import { expect, test } from "vitest"
import { type Hop, hopsOf } from "../../tools/walk/hops.js"
import { instrumented } from "../../tools/walk/instrumented.js"
import { remoteCallEntries } from "../../tools/walk/walk.js"

const root = resolve(import.meta.dirname, "../..")

test("the page that walks through a remote call shows the way that the code takes, in 95 hops at most", {
  timeout: 120_000,
}, async () => {
  const stretches = hopsOf(await remoteCallEntries())
  expect(stretches.flat().length).toBeLessThanOrEqual(95)
  await expect(pageOf(stretches)).toMatchFileSnapshot(join(root, "docs/remote-call.md"))
})

test("every function tells that it is entered, and does what it did", () => {
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

test("a hop leads to another file; accessors and work on bytes are none", () => {
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
  "The other node takes the call",
  "The actor's turn",
  "The answer is written",
  "The answer arrives",
]

const INTRODUCTION = `# The walk of a remote call

What runs, function by function, when a node calls an actor that is on another node and whose
placement it knows, and no other call is in flight: HOPS hops through FILES files. This page is made
by \`test/virtual/walk.test.ts\` from the functions that are entered in a real call between two nodes,
and the test fails when the way changes; run it with \`-u\` to write the page anew.

A hop is a call from a function of one file to a function of another. Accessors are not counted, nor
is what is done with bytes (the codec, batches, frames), with time (clocks, deadlines) and with
errors. Each part begins where the event loop or a microtask calls Troupe; what is indented is
called by what stands above it. [The path of a call](registry.md#the-path-of-a-call) tells the same
in words.`

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { compileTexts } from "./compiler.js"
import { complaintsAbout } from "./expectations.js"

describe("the public types", () => {
  it("refuse exactly what is expected, with the expected error codes", async () => {
    const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".types.ts"))
    expect(names.length).toBeGreaterThan(0)
    const texts = names.map((name) => [name, readFileSync(join(import.meta.dirname, name), "utf8")])
    expect(await complaintsAbout(Object.fromEntries(texts))).toEqual([])
  })
})

describe("a class that cannot work", () => {
  it("is refused with words that say what is wrong and what to do", async () => {
    const text = `
import { Actor, ActorSystem } from "troupe"
class Listens extends Actor { on(_listener: (text: string) => void) {} }
class Streams extends Actor { async *lines() { yield "a line" } }
class Waits extends Actor { wait(_for: { readonly all: readonly Promise<void>[] }) {} }
class Names extends Actor { name() { return Symbol() } }
class Cents { readonly #n = 5; readonly n = this.#n }
class Purse extends Actor<{ readonly cents: Cents }> {
  protected override initialState() { return { cents: new Cents() } }
}
class Empty extends Actor<{ readonly n: number }> {}
class Orders extends Actor<unknown, { readonly db: object }> { static readonly type = "Orders" }
class Arrow extends Actor { readonly double = (n: number) => n * 2 }
const system = await ActorSystem.start({
  namespace: "prod",
  actors: [
    Listens,
    Streams,
    Waits,
    Names,
    Purse,
    Empty,
    Orders,
    Arrow,
  ],
})
await system.actor(Arrow, "a").double(5)
await system.actor("Arrow", 5)
await system.actor(Cents, "a")
`
    const refusal = / is not assignable to (?:parameter of )?type '([^&]*?)'\./
    const expected = (await compileTexts({ "main.ts": text })).map(
      ({ message }) => refusal.exec(message)?.[1],
    )
    expect(expected).toEqual([
      '"a parameter of on is or contains a function or an object with methods; use plain data, a ref to an actor, or a class in the setting types"',
      '"the result of lines is or contains a stream; use plain data, in several calls if it is large"',
      '"a parameter of wait is or contains a promise; await it first"',
      '"the result of name is or contains a symbol; use a string"',
      '"the state is or contains an instance of a class; use plain data, or add its class to the setting types"',
      '"its state has a type and no first value; return one from initialState()"',
      '"it names dependencies; register it with provide(Orders, { ... })"',
      '"double is a field; write it as a method"',
      "string",
      "string | ActorClass<Actor<unknown, unknown, unknown>>",
    ])
  })
})

describe("the check of expectations", () => {
  it("reports an expectation without an error", async () => {
    const text = "// @ts-expect-error TS2322: a number is not a number\nexport const a: number = 1\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual(["a.types.ts:2 compiles without TS2322"])
  })

  it("reports an error with another code than the expected one", async () => {
    const text = "// @ts-expect-error TS2322: a string is not a number\nexport const a: number = nowhere\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual([
      "a.types.ts:2 compiles without TS2322",
      "a.types.ts:2 TS2304: Cannot find name 'nowhere'.",
    ])
  })

  it("reports an unexpected error", async () => {
    const text = `import { ActorPath } from "../../src/index.js"\n\nexport const a: string = ActorPath.root({ system: "s" })\n`
    expect(await complaintsAbout({ "a.types.ts": text })).toEqual([
      "a.types.ts:3 TS2322: Type 'ActorPath' is not assignable to type 'string'.",
    ])
  })

  it("requires each expectation to name the error code and the reason", async () => {
    const text = "// @ts-expect-error\nexport const a: number = ''\n"
    expect(await complaintsAbout({ "a.types.ts": text })).toContain(
      "a.types.ts:1 must name the expected error code and the reason",
    )
  })
})

import fc from "fast-check"
import { expect, test } from "vitest"
import type { Write } from "../ports/store.js"
import {
  decodeIndexed,
  encodeIndexed,
  firstValues,
  type IndexDeclaration,
  type Indexed,
  type IndexedState,
  indexChange,
  indexDeletions,
} from "./index-entries.js"
import { actorOfEntry } from "./index-keys.js"

const ada = { type: "User", key: "ada", digestOf: (text: string) => `digest${text.length}` }

interface User {
  readonly email?: string | undefined
  readonly plan?: string | undefined
}

const email: IndexDeclaration = { name: "email", version: 0, isUnique: true, of: (s) => (s as User).email }
const plan: IndexDeclaration = { name: "plan", version: 0, isUnique: false, of: (s) => (s as User).plan }

test("a new actor takes its unique value on a guard, and is entered in the other index", () => {
  expect(told([email, plan], [], { email: "a@b", plan: "pro" })).toEqual([
    "put unique/User/email/sa@b! = ada, guarded",
    "put index/User/plan/spro!/ada",
  ])
})

test("nothing is written while nothing changes, as the head has it too", () => {
  const entered = after([email, plan], [], { email: "a@b", plan: "pro" })
  expect(told([email, plan], entered, { email: "a@b", plan: "pro" })).toEqual([])
  expect(told([email, plan], decodeIndexed(encodeIndexed(entered)), { email: "a@b", plan: "pro" })).toEqual(
    [],
  )
  expect(told([plan, email], entered, { email: "a@b", plan: "pro" })).toEqual([])
})

test("a value that changes moves its entry alone; one that is taken is guarded, one that is given up is not", () => {
  const entered = after([email, plan], [], { email: "a@b", plan: "pro" })
  expect(told([email, plan], entered, { email: "a@b", plan: "free" })).toEqual([
    "delete index/User/plan/spro!/ada",
    "put index/User/plan/sfree!/ada",
  ])
  expect(told([email, plan], entered, { email: "c@d", plan: "pro" })).toEqual([
    "delete unique/User/email/sa@b!",
    "put unique/User/email/sc@d! = ada, guarded",
  ])
  expect(told([email, plan], entered, { plan: "pro" })).toEqual(["delete unique/User/email/sa@b!"])
})

test("an index that the class does not have keeps its entry, and says so once", () => {
  const entered = after([email, plan], [], { email: "a@b", plan: "pro" })
  expect(told([plan], entered, { email: "c@d", plan: "pro" })).toEqual([])
  const stale = after([plan], entered, { email: "c@d", plan: "pro" })
  expect(stale.map(({ name, mark, value }) => [name, mark, value])).toEqual([
    ["plan", "entered", "spro!"],
    ["email", "stale", "sa@b!"],
  ])
  expect(change([plan], stale, { email: "e@f", plan: "pro" })).toBeUndefined()
  const back = decodeIndexed(encodeIndexed(stale))
  expect(told([email, plan], back, { email: "c@d", plan: "pro" })).toEqual([
    "delete unique/User/email/sa@b!",
    "put unique/User/email/sc@d! = ada, guarded",
  ])
  expect(after([email, plan], back, { email: "a@b", plan: "pro" })[0]?.mark).toBe("entered")
})

test("an index of another version has the values of that one", () => {
  const entered = after([plan], [], { plan: "pro" })
  const upper: IndexDeclaration = { ...plan, version: 2, of: (s) => (s as User).plan?.toUpperCase() }
  expect(told([upper], entered, { plan: "pro" })).toEqual([
    "delete index/User/plan/spro!/ada",
    "put index/User/plan/sPRO!/ada",
  ])
  expect(after([{ ...plan, version: 2 }], entered, { plan: "pro" })[0]?.version).toBe(2)
  expect(told([{ ...plan, isUnique: true }], entered, { plan: "pro" })).toEqual([
    "delete index/User/plan/spro!/ada",
    "put unique/User/plan/spro! = ada, guarded",
  ])
})

test("an actor that is older than a unique index is left out until it is built in or changes its value", () => {
  const first = ["sa@b!"]
  expect(change([email], [], { email: "a@b" }, { first })).toBeUndefined()
  expect(told([email], [], { email: "c@d" }, { first })).toEqual([
    "put unique/User/email/sc@d! = ada, guarded",
  ])
  expect(told([email], [], {}, { first })).toEqual([])
  expect(told([email], [], { email: "a@b" }, { first, builds: true })).toEqual([
    "put unique/User/email/sa@b! = ada, guarded",
  ])
})

test("an actor whose value others have says so, and takes it when it is built in later", () => {
  const first = ["sa@b!"]
  const built = { first, builds: true, unowned: ["email"] }
  expect(told([email], [], { email: "a@b" }, built)).toEqual([])
  const unowned = after([email], [], { email: "a@b" }, built)
  expect(unowned.map(({ mark, value }) => [mark, value])).toEqual([["unowned", "sa@b!"]])
  const read = decodeIndexed(encodeIndexed(unowned))
  expect(change([email], read, { email: "a@b" })).toBeUndefined()
  expect(change([email], read, { email: "a@b" }, built)).toBeUndefined()
  expect(told([email], read, { email: "c@d" })).toEqual(["put unique/User/email/sc@d! = ada, guarded"])
  expect(told([email], read, { email: "a@b" }, { first, builds: true })).toEqual([
    "put unique/User/email/sa@b! = ada, guarded",
  ])
  expect(change([{ ...email, version: 1 }], read, { email: "a@b" }, { first })).toBeUndefined()
})

test("an actor that ends has no entries", () => {
  const entered = after([email, plan], [], { email: "a@b", plan: "pro" })
  expect(indexDeletions(ada, entered).map(({ kind, key }) => `${kind} ${key}`)).toEqual([
    "delete unique/User/email/sa@b!",
    "delete index/User/plan/spro!/ada",
  ])
})

test("what cannot be indexed is refused, with the name of the index", () => {
  expect(() => change([plan], [], { plan: {} as string })).toThrow("index plan must be a string")
  const throws = { ...plan, of: () => JSON.parse("{") }
  expect(() => change([throws], [], {})).toThrow("index plan has no value")
})

test("a long key is in the value of its entries", () => {
  const key = "é".repeat(200)
  const long = { ...ada, key }
  const [put] = change([plan], [], { plan: "pro" }, {}, long)?.writes ?? []
  expect(put?.key).toBe("index/User/plan/spro!/#digest200")
  expect(put?.kind === "put" && actorOfEntry(put)).toBe(key)
  const [short] = change([plan], [], { plan: "pro" })?.writes ?? []
  expect(short?.kind === "put" && actorOfEntry(short)).toBe("ada")
})

test("the entries are what the head says, whatever the states, the classes and the builds were", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let indexed: Indexed = []
      let first: IndexedState["first"]
      const store = new Map<string, Uint8Array>()
      for (const { value, declared, builds, restarts } of steps) {
        first = undefined
        if (restarts) first = firstValues(declared, indexed, value)
        const changed = change(declared, indexed, value, { first, builds })
        if (changed === undefined) continue
        for (const { key } of changed.guards) expect(store.has(key)).toBe(false)
        for (const write of changed.writes) {
          if (write.kind === "put") store.set(write.key, write.value)
          else expect(store.delete(write.key)).toBe(true)
        }
        indexed = decodeIndexed(encodeIndexed(changed.after))
        expect(indexed).toEqual(changed.after.map(({ raw: _raw, ...known }) => known))
        const said = indexed.flatMap(({ name, isUnique, value: text, mark }) => {
          if (text === undefined || mark === "unowned") return []
          return isUnique ? `unique/User/${name}/${text}` : `index/User/${name}/${text}/ada`
        })
        expect([...store.keys()].sort()).toEqual(said.sort())
      }
    }),
  )
})

const text = fc.constantFrom(undefined, "a", "b")
const declaration = fc
  .tuple(fc.constantFrom(email, plan), fc.constantFrom(0, 1), fc.boolean())
  .map(([index, version, isUnique]) => ({ ...index, version, isUnique }))
const step = fc.record({
  value: fc.record({ email: text, plan: text }),
  declared: fc.uniqueArray(declaration, { selector: ({ name }) => name, maxLength: 2 }),
  builds: fc.boolean(),
  restarts: fc.boolean(),
})

function change(
  declared: readonly IndexDeclaration[],
  before: Indexed,
  value: User,
  { first = undefined, builds = false, unowned = [] }: Partial<IndexedState> = {},
  actor = ada,
) {
  return indexChange(actor, declared, before, { value, first, builds, unowned })
}

function after(...[declared, before, value, state]: Parameters<typeof change>): Indexed {
  return change(declared, before, value, state)?.after ?? before
}

function told(...[declared, before, value, state]: Parameters<typeof change>): readonly string[] {
  const changed = change(declared, before, value, state)
  const guards = changed?.guards.map(({ key }) => key) ?? []
  return (changed?.writes ?? []).map((write) => {
    return `${writeText(write)}${guards.includes(write.key) ? ", guarded" : ""}`
  })
}

function writeText(write: Write): string {
  const isPut = write.kind === "put" && write.value.length > 0
  return `${write.kind} ${write.key}${isPut ? ` = ${Buffer.from(write.value)}` : ""}`
}

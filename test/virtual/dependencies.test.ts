import { expect, test } from "vitest"
import { ActivationError, Actor, provide, SettingsError } from "../../src/index.js"
import { failureOf, scenes } from "./scene.js"

const scene = scenes()

/** What the actors note, and who reads it. */
interface Ledger {
  readonly name: string
  readonly notes: string[]
  isOpen: boolean
}

class Clerk extends Actor<{ firstLedger: string }, Ledger> {
  static readonly type: string = "Clerk"
  /** Set while the instance is constructed. */
  readonly #ledger = this.dependencies

  protected override initialState() {
    return { firstLedger: this.dependencies.name }
  }

  protected override onActivate() {
    this.dependencies.notes.push(`${this.key} begins`)
  }

  protected override onDeactivate() {
    this.dependencies.notes.push(`${this.key} ends`)
  }

  write(text: string) {
    this.#ledger.notes.push(text)
    return this.#ledger === this.dependencies
  }

  first() {
    return this.state.firstLedger
  }

  isOpen() {
    return this.dependencies.isOpen
  }
}

class SeniorClerk extends Clerk {
  static override readonly type = "SeniorClerk"
}

class Forgetful extends Actor<unknown, Ledger> {
  static readonly type = "Forgetful"

  protected override onActivate() {
    if (this.key === "early") this.dependencies.notes.push("begins")
  }

  write(text: string) {
    return this.dependencies.notes.push(text)
  }
}

function ledger(name = "first"): Ledger {
  return { name, notes: [], isOpen: true }
}

test("dependencies are the object that was provided: in fields, initialState, hooks and turns", async () => {
  const book = ledger()
  const { system } = await scene([provide(Clerk, book)])
  expect(await system.actor(Clerk, "ada").write("one")).toBe(true)
  expect(await system.actor(Clerk, "bob").first()).toBe("first")
  expect(book.notes).toEqual(["ada begins", "one", "bob begins"])
  book.isOpen = false
  expect(await system.actor(Clerk, "ada").isOpen()).toBe(false)
  await system.stop()
  expect(book.notes.slice(3).toSorted()).toEqual(["ada ends", "bob ends"])
})

test("each system of a process has its own", async () => {
  const books = [ledger("first"), ledger("second")] as const
  for (const book of books) {
    const { system } = await scene([provide(Clerk, book)])
    expect(await system.actor(Clerk, "ada").first()).toBe(book.name)
  }
  expect(books.map(({ notes }) => notes[0])).toEqual(["ada begins", "ada begins"])
})

test("a subclass has those that it was registered with, not those of the class that it extends", async () => {
  const [book, other] = [ledger(), ledger("second")]
  const { system } = await scene([provide(Clerk, book), provide(SeniorClerk, other)])
  await system.actor(SeniorClerk, "ada").write("one")
  expect([book.notes, other.notes]).toEqual([[], ["ada begins", "one"]])
})

test("a class that reads them without having been provided says what to write", async () => {
  const { system } = await scene([Forgetful])
  const says = "actors must contain provide(Forgetful, dependencies) instead of Forgetful"
  const inTurn = await failureOf(system.actor(Forgetful, "late").write("one"))
  expect(inTurn).toBeInstanceOf(SettingsError)
  expect(inTurn.message).toContain(says)
  const atStart = await failureOf(system.actor(Forgetful, "early").write("one"))
  expect(atStart).toBeInstanceOf(ActivationError)
  expect(atStart.cause).toMatchObject({ code: "InvalidSetting", field: "actors" })
})

test.each([
  ["with dependencies and without", [Clerk, provide(Clerk, ledger())]],
  ["with two dependencies", [provide(Clerk, ledger()), provide(Clerk, ledger("second"))]],
])("a class that is registered twice, %s, is refused", async (_how, actors) => {
  const refused = await failureOf(scene(actors))
  expect(refused).toMatchObject({ code: "InvalidSetting", field: "actors" })
  expect(refused.message).toContain("must contain each class once (got Clerk twice)")
})

import { describe, expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { Actor } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import { ActorType } from "./actor-type.js"
import { provide } from "./provide.js"

class Parent extends Actor<number> {
  static readonly methods: object = { look: { readOnly: true }, peek: { alwaysInterleave: true } }

  look() {}
  peek() {}
  write() {}
  replaced() {}
  _under() {}
  #own() {}
  get accessor() {
    return this.#own()
  }
  set accessor(_value) {}
  override toString() {
    return ""
  }
  override hasOwnProperty() {
    return true
  }
  protected override onActivate() {}
  protected override upgradeState() {
    return 1
  }
  static statically() {}
}

describe("the callable methods of a class", () => {
  test("are its own methods and those it inherits, and nothing else", () => {
    class Child extends Parent {
      added() {}
    }
    Object.defineProperty(Child.prototype, "replaced", { get: () => () => {} })
    expect([...new ActorType(Parent as ActorClass).methodNames].toSorted()).toEqual([
      "look",
      "peek",
      "replaced",
      "write",
    ])
    const child = new ActorType(Child as unknown as ActorClass)
    expect([...child.methodNames].toSorted()).toEqual(["added", "look", "peek", "write"])
    for (const name of [
      "constructor",
      "__proto__",
      "toString",
      "hasOwnProperty",
      "replaced",
      "save",
      "key",
    ]) {
      expect(child.method(name)).toBeUndefined()
    }
  })

  test("have the flags that the options set", () => {
    const type = new ActorType(Parent as ActorClass)
    expect(type.method("look")?.flags).toBe(READ_ONLY)
    expect(type.method("peek")?.flags).toBe(READ_ONLY | ALWAYS_INTERLEAVE)
    expect(type.method("write")?.flags).toBe(0)
    expect(type.mayOverlap).toBe(true)
  })
})

describe("refuses a class that", () => {
  const plain = (statics: object) =>
    Object.assign(
      class Plain extends Actor {
        hello() {}
      },
      statics,
    )
  const cases: [what: string, make: unknown, says: string][] = [
    [
      "is not a class",
      5,
      "must contain only classes that extend Actor, or results of provide (got the number 5)",
    ],
    ["does not extend Actor", Map, "must contain only classes that extend Actor"],
    [
      "is an object",
      {},
      "must contain only classes that extend Actor, or results of provide (got an object)",
    ],
    ["is Actor itself", Actor, "must contain only classes that extend Actor"],
    ["is provided without being a class", provide(5 as never, {} as never), "(got the number 5)"],
    ["has dependencies without a class", { dependencies: {} }, "or results of provide (got an object)"],
    ["has no name", (() => class extends Actor {})(), "set static type"],
    ["has a name with an invalid character", plain({ type: "a/b" }), '(got "a/b"); set static type'],
    ["has a name that is not a string", plain({ type: 5 }), "(got 5); set static type"],
    ["has options for a missing method", plain({ methods: { nothing: {} } }), '(got "nothing")'],
    ["has options for a hook", plain({ methods: { onActivate: {} } }), '(got "onActivate")'],
    ["has options for a method of Object", plain({ methods: { toString: {} } }), '(got "toString")'],
    [
      "has methods that are not an object",
      plain({ methods: 5 }),
      "Plain.methods must be an object (got the number 5)",
    ],
    ["has an unknown option", plain({ methods: { hello: { readonly: true } } }), 'option "readonly"'],
    [
      "has a flag that is not a boolean",
      plain({ methods: { hello: { readOnly: 1 } } }),
      "readOnly must be true or false (got the number 1)",
    ],
    [
      "has a method timeout of 0",
      plain({ methods: { hello: { timeoutMs: 0 } } }),
      "timeoutMs must be a number of milliseconds above 0",
    ],
    [
      "has an invalid schema",
      plain({ methods: { hello: { input: {} } } }),
      "input must be a Standard Schema",
    ],
    ["has an invalid schema in an array", plain({ methods: { hello: { input: [5] } } }), "input must be"],
    [
      "has a fractional version",
      plain({ stateVersion: 1.5 }),
      "Plain.stateVersion must be a non-negative integer (got the number 1.5)",
    ],
    ["has a negative idle time", plain({ idleAfterMs: -1 }), "idleAfterMs"],
    ["has an idle time that is NaN", plain({ idleAfterMs: Number.NaN }), "idleAfterMs"],
    ["has a capacity of 0", plain({ mailboxCapacity: 0 }), "mailboxCapacity must be a positive integer"],
    [
      "has a fractional capacity",
      plain({ mailboxCapacity: 1.5 }),
      "mailboxCapacity must be a positive integer",
    ],
    [
      "has a string as its capacity",
      plain({ mailboxCapacity: "5" }),
      "mailboxCapacity must be a positive integer (got a string)",
    ],
    [
      "has a string as its idle time",
      plain({ idleAfterMs: "5" }),
      "idleAfterMs must be a number of milliseconds above 0",
    ],
    [
      "has a string for reentrant",
      plain({ reentrant: "no" }),
      "reentrant must be true or false (got a string)",
    ],
    [
      "has a placement that is not a function",
      plain({ placement: "random" }),
      "placement must be a function",
    ],
    ["has a string as a method timeout", plain({ methods: { hello: { timeoutMs: "100" } } }), "timeoutMs"],
    [
      "inherits an invalid method timeout",
      Object.assign(class extends plain({ methods: { hello: { timeoutMs: -1 } } }) {}, { type: "Sub" }),
      "Sub.methods.hello.timeoutMs must be a number of milliseconds above 0 (got the number -1)",
    ],
    [
      "has an async initialState",
      class Waits extends Actor {
        protected override async initialState() {}
      },
      "Waits.initialState must not be async; return the state itself, and await in onActivate()",
    ],
    [
      "has a method then",
      class Later extends Actor {
        then() {}
      },
      "a method then",
    ],
    [
      "has a method toJSON",
      class Printed extends Actor {
        toJSON() {}
      },
      "a method toJSON",
    ],
  ]
  test.each(cases)("%s", (_what, make, says) => {
    const begin = () => new ActorType(make as ActorClass)
    expect(begin).toThrow(SettingsError)
    expect(begin).toThrow(says)
  })
})

describe("dependencies", () => {
  class Clerk extends Actor<unknown, { desk: number }> {}

  test("are the very object that provide was called with, frozen or not", () => {
    const dependencies = { desk: 7 }
    const type = new ActorType(provide(Clerk, dependencies))
    expect(type.dependencies).toBe(dependencies)
    expect(Object.isFrozen(dependencies)).toBe(false)
    expect([type.name, type.make]).toEqual(["Clerk", Clerk])
  })

  test("may be undefined", () => {
    class Loner extends Actor<unknown, { desk: number } | undefined> {}
    expect(new ActorType(provide(Loner, undefined)).dependencies).toBeUndefined()
  })

  test("of a class that was registered without them are an error that says what to write", () => {
    const type = new ActorType(Clerk)
    expect(() => type.dependencies).toThrow(SettingsError)
    expect(() => type.dependencies).toThrow(
      "actors must contain provide(Clerk, dependencies) instead of Clerk, which reads this.dependencies",
    )
  })
})

test.each(["key", "state", "log", "ask", "watch", "dependencies"])(
  "a class that replaces the member %s of every actor is refused",
  (name) => {
    class Own extends Actor {}
    Object.defineProperty(Own.prototype, name, { value: () => {} })
    expect(() => new ActorType(Own)).toThrow(
      `actors: Own must not have its own ${name}, which every actor has; rename it`,
    )
  },
)

test("a class may extend save and deactivate, and has its own hooks", () => {
  class Own extends Actor {
    protected override save() {
      return super.save()
    }
    protected override deactivate() {
      super.deactivate()
    }
    protected override initialState() {
      return 1
    }
  }
  expect([...new ActorType(Own).methodNames]).toEqual([])
})

describe("an actor", () => {
  test("is created only by the runtime", () => {
    expect(() => new Parent()).toThrow(
      "Parent cannot be created with new; call it through system.actor(Parent, key)",
    )
  })
})

import { describe, expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import { Actor } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import { ActorType } from "./actor-type.js"

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

describe("what can be called of a class", () => {
  test("is its own methods and those it inherits, and nothing else", () => {
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

  test("is called as its options say", () => {
    const type = new ActorType(Parent as ActorClass)
    expect(type.method("look")?.flags).toBe(READ_ONLY)
    expect(type.method("peek")?.flags).toBe(READ_ONLY | ALWAYS_INTERLEAVE)
    expect(type.method("write")?.flags).toBe(0)
    expect(type.mayOverlap).toBe(true)
  })
})

describe("a class that cannot be registered", () => {
  const plain = (statics: object) =>
    Object.assign(
      class Plain extends Actor {
        hello() {}
      },
      statics,
    )
  const cases: [what: string, make: unknown, says: string][] = [
    ["is no class", 5, "each is a class that extends Actor"],
    ["is a class of something else", Map, "each is a class that extends Actor"],
    ["is an instance", {}, "each is a class that extends Actor"],
    ["is Actor itself", Actor, "each is a class that extends Actor"],
    ["has no name", (() => class extends Actor {})(), "set static type"],
    ["has a name that no id can have", plain({ type: "a/b" }), '"a/b" is no name of a type'],
    ["has a name that is no text", plain({ type: 5 }), "is no name of a type"],
    ["has options for what it has not", plain({ methods: { nothing: {} } }), 'names "nothing"'],
    ["has options for a hook", plain({ methods: { onActivate: {} } }), 'names "onActivate"'],
    ["has options for Object's own", plain({ methods: { toString: {} } }), 'names "toString"'],
    ["has options that are none", plain({ methods: 5 }), "Plain.methods is an object"],
    ["has an option that is none", plain({ methods: { hello: { readonly: true } } }), '"readonly"'],
    [
      "has an option of a wrong kind",
      plain({ methods: { hello: { readOnly: 1 } } }),
      "readOnly is true or false",
    ],
    ["has no time for a method", plain({ methods: { hello: { timeoutMs: 0 } } }), "timeoutMs"],
    ["has a schema that is none", plain({ methods: { hello: { input: {} } } }), "input"],
    ["has one schema of several that is none", plain({ methods: { hello: { input: [5] } } }), "input"],
    ["has a version that is none", plain({ stateVersion: 1.5 }), "stateVersion is a whole number from 0"],
    ["is idle before it begins", plain({ idleAfterMs: -1 }), "idleAfterMs"],
    ["is idle after no number", plain({ idleAfterMs: Number.NaN }), "idleAfterMs"],
    ["takes no messages", plain({ mailboxCapacity: 0 }), "mailboxCapacity is a whole number from 1"],
    ["takes half a message", plain({ mailboxCapacity: 1.5 }), "mailboxCapacity is a whole number from 1"],
    ["takes a text of messages", plain({ mailboxCapacity: "5" }), "mailboxCapacity is a whole number from 1"],
    ["is idle after a text", plain({ idleAfterMs: "5" }), "idleAfterMs is more than 0 and finite"],
    ["is reentrant by a text", plain({ reentrant: "no" }), "reentrant is true or false"],
    ["is placed by no function", plain({ placement: "random" }), "placement is a function"],
    [
      "has a time for a method that is a text",
      plain({ methods: { hello: { timeoutMs: "100" } } }),
      "timeoutMs",
    ],
    [
      "has no time for a method that it inherits",
      Object.assign(class extends plain({ methods: { hello: { timeoutMs: -1 } } }) {}, { type: "Sub" }),
      "Sub.methods.hello.timeoutMs is more than 0 and finite",
    ],
    [
      "waits for its first state",
      class Waits extends Actor {
        protected override async initialState() {}
      },
      "Waits.initialState is async; return the state itself, and await in onActivate()",
    ],
    [
      "would be taken for a promise",
      class Later extends Actor {
        then() {}
      },
      "a method then",
    ],
    [
      "would be called when it is printed",
      class Printed extends Actor {
        toJSON() {}
      },
      "a method toJSON",
    ],
  ]
  test.each(cases)("because it %s", (_what, make, says) => {
    const begin = () => new ActorType(make as ActorClass)
    expect(begin).toThrow(SettingsError)
    expect(begin).toThrow(says)
  })
})

describe("an actor", () => {
  test("is made by nobody but the runtime", () => {
    expect(() => new Parent()).toThrow("Parent is started by calling it: system.actor(Parent, key)")
  })
})

import { expect, test } from "vitest"
import { FakeTenure } from "../../test/virtual/fake-activation.js"
import type { DurableState } from "../registry/durable-state.js"
import type { StateUpgrade } from "../registry/state-value.js"
import type { Tenure } from "../registry/tenure.js"
import { Actor, internals } from "./actor.js"
import { loadState, saveRefusal } from "./actor-state.js"
import { ActorType } from "./actor-type.js"
import type { Turn } from "./turn.js"

class Account extends Actor<{ cents: number }> {
  static readonly methods = { read: { readOnly: true }, peek: { alwaysInterleave: true } }

  protected override initialState() {
    return { cents: 0 }
  }

  protected override upgradeState(old: unknown, fromVersion: number) {
    return { cents: (old as { euros: number }).euros * 100 + fromVersion }
  }

  get current() {
    return this.state
  }

  read() {}
  peek() {}
  write() {}
}

const type = new ActorType(Account as never)

/** A stored state of the given version; the current version is 3. */
function stored(value: unknown, version = 3): DurableState {
  return {
    isStored: value !== NOTHING,
    load: async (upgrade: StateUpgrade) => {
      if (value === NOTHING) return undefined
      return version === 3 ? value : upgrade(value, version)
    },
  } as unknown as DurableState
}

const NOTHING = Symbol("nothing")

async function loaded(durable: DurableState): Promise<unknown> {
  const actor = internals.make(Account as never, {} as never) as Account
  await loadState(actor, type, durable)
  return actor.current
}

test("an actor starts with the stored state, or with its initial state if none is stored", async () => {
  expect(await loaded(stored({ cents: 5 }))).toEqual({ cents: 5 })
  expect(await loaded(stored(NOTHING))).toEqual({ cents: 0 })
})

test("a stored undefined is loaded as the state", async () => {
  expect(await loaded(stored(undefined))).toBeUndefined()
})

test("a state that an older version stored is upgraded by the actor", async () => {
  expect(await loaded(stored({ euros: 2 }, 1))).toEqual({ cents: 201 })
})

function refusal(tenure: FakeTenure, method?: string): string | undefined {
  const turn = { method: method && type.method(method) }
  return saveRefusal(type, tenure as unknown as Tenure, turn as unknown as Turn)?.name
}

test("a method, a timer and a hook may save; a readOnly or alwaysInterleave method may not", () => {
  const tenure = new FakeTenure()
  expect(refusal(tenure, "write")).toBeUndefined()
  expect(refusal(tenure)).toBeUndefined()
  expect(saveRefusal(type, tenure as unknown as Tenure, undefined)).toBeUndefined()
  expect(refusal(tenure, "read")).toBe("TypeError")
  expect(refusal(tenure, "peek")).toBe("TypeError")
})

test("refuses a save once the tenure has ended, and not while its doors wait", () => {
  const tenure = new FakeTenure()
  tenure.isOpen = false
  expect(refusal(tenure, "write")).toBeUndefined()
  tenure.end("its node is fenced")
  expect(refusal(tenure, "write")).toBe("FencedError")
})

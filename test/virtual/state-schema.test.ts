import { expect, test } from "vitest"
import { ActivationError, Actor, type StateError } from "../../src/index.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { failureOf } from "./scene.js"

/** Accepts objects with a whole number of items. */
const stock = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) => {
      const { items } = value as { items: unknown }
      if (Number.isSafeInteger(items)) return { value: { items: "is not used" } }
      return { issues: [{ message: "must be a whole number", path: ["items"] }] }
    },
  },
}

class Unchecked extends Actor<{ items: number }> {
  static readonly type: string = "Stock"

  protected override initialState() {
    return { items: 0 }
  }

  async put(items: number) {
    this.state.items = items
    await this.save()
    return this.state.items
  }

  items() {
    return this.state.items
  }
}

class Stock extends Unchecked {
  static readonly state = stock
}

class StockOnce extends Stock {
  static readonly methods = { put: { once: true } }

  override async put(items: number) {
    this.state.items = items
    return this.state.items
  }
}

/** Runs a task on a node with the class, whose store goes on. */
async function withNode<T>(
  store: ReturnType<typeof memoryStore>,
  make: typeof Unchecked,
  task: (system: ActorSystem) => Promise<T>,
  isDevelopment = false,
): Promise<T> {
  const settings = { namespace: "test", actors: [make], store, lease: { deathProof: false } }
  const system = await ActorSystem.start(settings, nodePorts({ isDevelopment }))
  try {
    return await task(system)
  } finally {
    await system.stop()
  }
}

test("a stored state that does not fit its schema is an error, and one that fits is not converted", async () => {
  const store = memoryStore()
  await withNode(store, Unchecked, async (system) => {
    await system.actor(Unchecked, "good").put(3)
    await system.actor(Unchecked, "bad").put(0.5)
  })
  await withNode(store, Stock, async (system) => {
    expect(await system.actor(Stock, "good").items()).toBe(3)
    const error = await failureOf(system.actor(Stock, "bad").items())
    expect(error).toBeInstanceOf(ActivationError)
    expect((error.cause as StateError).problem).toBe("invalid")
    expect(error.message).toContain("it does not fit Stock.state: items: must be a whole number")
  })
})

test.each([Stock, StockOnce])("%s: in development a state that does not fit is not saved", async (make) => {
  const store = memoryStore()
  await withNode(
    store,
    make,
    async (system) => {
      expect(await system.actor(make, "a").put(3)).toBe(3)
      const error = await failureOf(system.actor(make, "a").put(0.5))
      expect((error as StateError).problem).toBe("invalid")
    },
    true,
  )
  await withNode(store, make, async (system) => {
    expect(await system.actor(make, "a").items()).toBe(3)
    expect(await system.actor(make, "a").put(0.5)).toBe(0.5)
  })
})

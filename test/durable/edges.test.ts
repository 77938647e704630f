import { expect, test } from "vitest"
import { Actor, type ActorHandle, withOptions } from "../../src/index.js"
import { play } from "../sharding/scene.js"

/** Counts what it is asked for. */
class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"
  static readonly once = true
  static readonly methods = { count: { readOnly: true } }

  protected override initialState() {
    return { count: 0 }
  }

  add() {
    this.state.count += 1
  }

  refuse() {
    throw new Error("never")
  }

  count() {
    return this.state.count
  }
}

class Clerk extends Actor<{ fired: string[]; told: number }> {
  static readonly type: string = "Clerk"
  static readonly once = true
  static readonly methods = { fired: { readOnly: true }, later: { once: false } }
  #attempts = 0

  protected override initialState() {
    return { fired: [] as string[], told: 0 }
  }

  remind(name: string, afterMs: number) {
    this.reminders.set(name, { afterMs })
    return this.state.fired.length
  }

  send(counter: string) {
    this.eventually(this.actor(Counter, counter)).refuse()
  }

  fired() {
    return this.state.fired
  }

  /** Decides something after its turn has ended. */
  later(): Promise<void> {
    late = new Promise((resolve) => {
      setTimeout(() => {
        const errors = [
          () => this.eventually(this.actor(Counter, "late")).add(),
          () => this.remind("late", 1),
        ]
        resolve(errors.map((one) => messageOf(one)))
      }, 100)
    })
    return Promise.resolve()
  }

  protected override async onReminder({ name }: { readonly name: string }) {
    this.state.fired.push(name)
    await this.#addTwice("of reminders", name.startsWith("fails"))
  }

  protected override async onUndelivered() {
    this.state.told += 1
    await this.#addTwice("of messages", true)
  }

  async #addTwice(counter: string, fails: boolean) {
    for (const _ of [1, 2]) await this.actor(Counter, counter).add()
    this.#attempts += 1
    if (fails && this.#attempts < 3) throw new Error("not yet")
  }
}

let late: Promise<readonly string[]> | undefined

function messageOf(task: () => unknown): string {
  try {
    task()
    return "nothing"
  } catch (error) {
    return (error as Error).message
  }
}

const counted = (counter: string) => (system: { actor: (type: typeof Counter, key: string) => unknown }) =>
  (system.actor(Counter, counter) as ActorHandle<Counter>).count()

test("reminders with the longest names fire, of an actor with the longest key", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk, Counter])
    const names = ["名".repeat(128), `${"名".repeat(127)}前`, "short"]
    const clerk = (key: string) => scene.on("a", (system) => system.actor(Clerk, key).fired())
    const key = "€".repeat(240)
    for (const name of names) await scene.on("a", (system) => system.actor(Clerk, key).remind(name, 2_000))
    await scene.sleep(10_000)
    expect([...(await clerk(key))].sort()).toEqual([...names].sort())
  })
})

test("calls of onReminder and onUndelivered are applied once, however often it is attempted", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk, Counter])
    await scene.on("a", (system) => system.actor(Clerk, "kim").remind("fails", 1_000))
    await scene.on("a", (system) => system.actor(Clerk, "lou").send("any"))
    await scene.sleep(30_000)
    expect(await scene.on("a", (system) => system.actor(Clerk, "kim").fired())).toEqual(["fails"])
    expect(await scene.on("a", counted("of reminders"))).toBe(2)
    expect(await scene.on("a", counted("of messages"))).toBe(2)
    // The next occurrence is another operation.
    await scene.on("a", (system) => system.actor(Clerk, "kim").remind("again", 1_000))
    await scene.sleep(10_000)
    expect(await scene.on("a", counted("of reminders"))).toBe(4)
  })
})

test("what is decided when no turn is running is refused", async () => {
  await play(async (scene) => {
    await scene.start("a", [Clerk, Counter])
    await scene.on("a", (system) => system.actor(Clerk, "kim").later())
    await scene.sleep(1_000)
    expect(await late).toEqual([
      "Clerk cannot send messages now: no turn is running; await all that a turn does",
      "Clerk cannot set reminders now: no turn is running; await all that a turn does",
    ])
  })
})

for (const once of [true, false]) {
  test(`a turn that throws is undone, though a call was interleaved (${once ? "once" : "plain"})`, async () => {
    class Draft extends Actor<{ n: number }> {
      static readonly type = "Draft"
      static readonly restoreOnThrow = true
      static readonly methods = { peek: { alwaysInterleave: true }, slow: { once }, add: { once: true } }

      protected override initialState() {
        return { n: 0 }
      }

      async slow() {
        this.state.n += 1_000
        await new Promise((resolve) => setTimeout(resolve, 100))
        throw new Error("no")
      }

      peek() {
        return this.state.n
      }

      add() {
        this.state.n += 1
        return this.state.n
      }
    }
    await play(async (scene) => {
      await scene.start("a", [Draft])
      await scene.on("a", async (system) => {
        const draft = system.actor(Draft, "one")
        expect(await draft.add()).toBe(1)
        const slow = draft.slow().catch((error: Error) => error.message)
        await new Promise((resolve) => setTimeout(resolve, 50))
        const peek = draft.peek()
        expect(await slow).toBe("no")
        expect(await peek).toBe(1_001)
        expect([await draft.peek(), await draft.add()]).toEqual([1, 2])
      })
    })
  })
}

class OldCounter extends Actor<{ count: number }> {
  static readonly type = "Counter"

  protected override initialState() {
    return { count: 0 }
  }

  async add() {
    this.state.count += 1
    await this.save()
  }
}

test("a call has no operation while some node has a method that is not once", async () => {
  await play(async (scene) => {
    await scene.start("old", [OldCounter])
    await scene.start("caller", [])
    await scene.on("caller", async (system) => {
      const counter = system.actor(Counter, "one")
      // The class says once; the node that runs it does not.
      expect(await counter.add()).toBeUndefined()
      const named = () => withOptions(counter, { operation: "order 7" }).add()
      await expect(Promise.resolve().then(named)).rejects.toThrow("must be once")
      const byName = system.actor<Counter>("Counter", "one")
      const namedByName = () => withOptions(byName, { operation: "order 7" }).add()
      await expect(Promise.resolve().then(namedByName)).rejects.toThrow("must be once")
    })
  })
})

test("a type that is restored after a throw remembers operations and reminders when it starts again", async () => {
  class Till extends Clerk {
    static override readonly type = "Till"
    static readonly restoreOnThrow = true
    static override readonly methods = { ...Clerk.methods, note: { once: false } }

    async note() {
      await this.save()
    }
  }
  await play(async (scene) => {
    await scene.start("a", [Till, Counter])
    const till = <T>(task: (till: ActorHandle<Till>) => Promise<T>) =>
      scene.on("a", (system) => task(system.actor(Till, "one")))
    const named = (name: string) => till((one) => withOptions(one, { operation: "o" }).remind(name, 5_000))
    await named("tea")
    await scene.stop("a")
    await scene.start("b", [Till, Counter])
    await scene.on("b", (system) => system.actor(Till, "one").note())
    await scene.sleep(20_000)
    expect(await scene.on("b", (system) => system.actor(Till, "one").fired())).toEqual(["tea"])
  })
})

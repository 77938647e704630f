import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { FakeActivation, FakeCall } from "../../test/virtual/fake-activation.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { ActivationLifecycle, type ActivationState, type LifecycleOwner } from "./activation-lifecycle.js"
import { Actor, type DeactivationReason, internals } from "./actor.js"
import type { Invocation } from "./invocation.js"
import { OwnTask } from "./own-task.js"
import { TurnRunner } from "./turn-runner.js"

/** A promise that the test settles. */
class Step {
  end: () => void = () => {}
  fail: (error: Error) => void = () => {}
  readonly promise = new Promise<void>((resolve, reject) => {
    this.end = resolve
    this.fail = reject
  })
}

class Subject extends Actor {
  static hooks: { activate?: () => Promise<void> | undefined; deactivate?: () => Promise<void> | undefined }
  static readonly log: string[] = []

  protected override onActivate() {
    Subject.log.push("onActivate")
    return Subject.hooks.activate?.()
  }

  protected override onDeactivate(reason: DeactivationReason) {
    Subject.log.push(`onDeactivate ${reason}`)
    return Subject.hooks.deactivate?.()
  }

  wait() {}
}

/** An activation with a real lifecycle. The test sets whether its turns are busy. */
class Owner extends FakeActivation implements LifecycleOwner {
  readonly isSaving = false
  readonly isDestroyed = false
  readonly turns = new TurnRunner(this)
  readonly lifecycle: ActivationLifecycle
  /** Undefined if the claim has read the state. */
  loading: Promise<void> | undefined = Promise.resolve()
  saves: Promise<void> | undefined
  calls: Promise<void> | undefined
  released: Promise<void> | undefined
  busy = false

  constructor(state: "creating" | "valid" = "creating") {
    super(Subject)
    Subject.log.length = 0
    Subject.hooks = {}
    this.lifecycle = new ActivationLifecycle(this, state)
    Object.defineProperty(this.turns, "isBusy", { get: () => this.busy })
    const end = this.fakeTenure.end.bind(this.fakeTenure)
    this.fakeTenure.end = (because) => {
      this.said.push(`tenure ended: ${because}`)
      end(because)
      this.lifecycle.tenureEnded()
    }
    if (state === "valid") this.instance = this.make()
  }

  make(): Actor {
    return internals.make(Subject as never, {} as never)
  }

  load(): Promise<void> | undefined {
    if (this.loading !== undefined) return this.loading.then(() => this.#loaded())
    this.#loaded()
    return undefined
  }

  #loaded(): void {
    this.instance = this.make()
  }

  started(): void {
    this.said.push("started")
  }

  stateChanged(state: ActivationState): void {
    this.said.push(state)
  }

  endOwnTasks(): void {
    this.said.push("own tasks ended")
  }

  awaitSaves() {
    this.said.push("saves awaited")
    return this.saves
  }

  destroyed(): Promise<never> {
    throw new Error("the actor exists")
  }

  awaitCalls() {
    this.said.push("calls awaited")
    return this.calls
  }

  leaveCatalog(waiting: readonly Invocation[], isOwn: boolean) {
    this.said.push(`left with ${waiting.length}${isOwn ? ", released" : ""}`)
    return this.released
  }

  /** Deactivates, and returns a function that says whether `deactivate` has resolved. */
  deactivate(): () => boolean {
    let isGone = false
    void this.lifecycle.deactivate("asked").then(() => {
      isGone = true
    })
    return () => isGone
  }
}

test("loads the state, runs onActivate, and becomes valid", async () => {
  const owner = new Owner()
  await owner.lifecycle.start()
  expect(owner.said).toEqual(["activating", "valid", "started"])
  expect(Subject.log).toEqual(["onActivate"])
  expect(owner.lifecycle.isInHook).toBe(false)
})

test("runs onActivate only if the doors are open after the state was read, and waits for them", async () => {
  const owner = new Owner()
  owner.fakeTenure.isOpen = false
  const starting = owner.lifecycle.start()
  await settle()
  expect([owner.said, Subject.log]).toEqual([[], []])
  owner.fakeTenure.decide(true)
  await starting
  expect(owner.said).toEqual(["activating", "valid", "started"])
  expect(Subject.log).toEqual(["onActivate"])
})

test("does not run onActivate if the tenure has ended while the state was read", async () => {
  const owner = new Owner()
  const starting = owner.lifecycle.start()
  owner.fakeTenure.end("its node is fenced")
  await expect(starting).rejects.toThrow("its node is fenced")
  expect(Subject.log).toEqual([])
})

test("is valid at once if neither the state nor the hook has to be awaited", () => {
  const owner = new Owner()
  owner.loading = undefined
  expect(owner.lifecycle.start()).toBeUndefined()
  expect(owner.said).toEqual(["activating", "valid", "started"])
  expect([Subject.log, owner.lifecycle.isInHook]).toEqual([["onActivate"], false])
})

test("throws at once what onActivate throws, if nothing had to be awaited", () => {
  const owner = new Owner()
  owner.loading = undefined
  Subject.hooks.activate = () => {
    throw new Error("no")
  }
  expect(() => owner.lifecycle.start()).toThrow("no")
  expect([owner.lifecycle.state, owner.lifecycle.hasFailed]).toEqual(["invalid", true])
})

test("is creating until the state is loaded, and activating, in a hook, until onActivate has ended", async () => {
  const owner = new Owner()
  const [loading, hook] = [new Step(), new Step()]
  owner.loading = loading.promise
  Subject.hooks.activate = () => hook.promise
  const started = owner.lifecycle.start()
  await settle()
  expect([owner.lifecycle.state, Subject.log]).toEqual(["creating", []])
  loading.end()
  await settle()
  expect([owner.lifecycle.state, owner.lifecycle.isInHook]).toEqual(["activating", true])
  hook.end()
  await started
  expect([owner.said.at(-1), owner.clock.pendingTimers]).toEqual(["started", 0])
})

test("a start that the actor fails is reported to the waiting callers, and not to its timers", async () => {
  const owner = new Owner()
  const cause = new Error("no")
  Subject.hooks.activate = () => Promise.reject(cause)
  const failures: Error[] = []
  const timer = new OwnTask(
    { taskFailed: (_: string, e: Error) => failures.push(e) } as never,
    "timer",
    () => {},
  )
  owner.state = "activating"
  owner.turns.accept(new FakeCall("wait"))
  owner.turns.enqueueOwn(timer)
  const call = owner.turns.waiting.first as FakeCall
  await expect(owner.lifecycle.start()).rejects.toBe(cause)
  expect(owner.said.slice(1)).toEqual([
    "deactivating",
    "invalid",
    "tenure ended: its start failed",
    "left with 0, released",
  ])
  expect([owner.lifecycle.isUnused, owner.lifecycle.hasFailed, call.answers]).toEqual([true, true, []])
  owner.lifecycle.tellFailure()
  expect([call.answers, call.error?.cause, failures]).toEqual([["ActivationError"], cause, []])
  expect(owner.lifecycle.hasFailed).toBe(false)
})

test("a start that the store fails passes the waiting calls on to the next activation", async () => {
  const owner = new Owner()
  owner.loading = Promise.reject(new StoreUnavailableError("away", "not-committed"))
  owner.state = "creating"
  owner.turns.accept(new FakeCall("wait"))
  await expect(owner.lifecycle.start()).rejects.toThrow("away")
  expect([owner.said.at(-1), owner.lifecycle.hasFailed]).toEqual(["left with 1, released", false])
})

test("waits for onActivate until the request timeout", async () => {
  const owner = new Owner()
  Subject.hooks.activate = () => new Step().promise
  const failed = expect(owner.lifecycle.start()).rejects.toMatchObject({
    message: expect.stringContaining("did not end within 1000 ms"),
    delivery: "not-delivered",
  })
  await owner.clock.advance(999)
  expect(owner.lifecycle.state).toBe("activating")
  await owner.clock.advance(1)
  await failed
  expect(owner.lifecycle.state).toBe("invalid")
})

test("the end of the tenure ends the wait for onActivate at once; the activation is gone after the hook", async () => {
  const owner = new Owner()
  const hook = new Step()
  Subject.hooks.activate = () => hook.promise
  const failed = expect(owner.lifecycle.start()).rejects.toMatchObject({ delivery: "not-delivered" })
  await settle()
  owner.fakeTenure.end("its node is fenced")
  await failed
  const isGone = owner.deactivate()
  await settle()
  // The placement no longer belongs to the activation, so it is not released.
  expect([owner.said.at(-1), isGone()]).toEqual(["left with 0", false])
  hook.end()
  await settle()
  expect(isGone()).toBe(true)
})

test("a start fails if the tenure ended in a synchronous onActivate", async () => {
  const owner = new Owner()
  Subject.hooks.activate = () => {
    owner.fakeTenure.end("its node is fenced")
    return undefined
  }
  await expect(owner.lifecycle.start()).rejects.toMatchObject({ code: "Fenced" })
  expect(owner.said).not.toContain("valid")
})

test("an activation that is deactivated while it starts ends as soon as it is valid, unused", async () => {
  const owner = new Owner()
  const hook = new Step()
  Subject.hooks.activate = () => hook.promise
  const started = owner.lifecycle.start()
  const isGone = owner.deactivate()
  await settle()
  expect(isGone()).toBe(false)
  hook.end()
  await started
  await settle()
  expect(owner.said).not.toContain("started")
  expect(owner.said.slice(0, 3)).toEqual(["activating", "valid", "deactivating"])
  expect([isGone(), owner.lifecycle.isUnused]).toEqual([true, true])
})

test("ends its parts in order: turns, timers, hook, saves, calls, doors, release", async () => {
  const owner = new Owner("valid")
  const [saves, calls, hook, released] = [new Step(), new Step(), new Step(), new Step()]
  owner.saves = saves.promise
  owner.calls = calls.promise
  owner.released = released.promise
  Subject.hooks.deactivate = () => hook.promise
  owner.busy = true
  const isGone = owner.deactivate()
  await settle()
  expect([owner.said.splice(0), Subject.log]).toEqual([["deactivating"], []])
  owner.busy = false
  owner.lifecycle.turnsEnded()
  await settle()
  expect([owner.said.splice(0), Subject.log]).toEqual([["own tasks ended"], ["onDeactivate asked"]])
  expect(owner.lifecycle.isInHook).toBe(true)
  hook.end()
  await settle()
  expect([owner.said.splice(0), owner.lifecycle.isInHook]).toEqual([["saves awaited"], false])
  saves.end()
  await settle()
  expect(owner.said.splice(0)).toEqual(["calls awaited"])
  calls.end()
  await settle()
  expect(owner.said).toEqual([
    "invalid",
    "tenure ended: the activation was deactivated (asked)",
    "left with 0, released",
  ])
  expect(isGone()).toBe(false)
  released.end()
  await settle()
  expect(isGone()).toBe(true)
})

test("messages that still wait at the end are passed on to the next activation", async () => {
  const owner = new Owner("valid")
  owner.state = "deactivating"
  owner.turns.accept(new FakeCall("wait"))
  await owner.lifecycle.deactivate("idle")
  expect(owner.said).toContain("left with 1, released")
})

test("the first reason counts, and every deactivate resolves when the activation is gone", async () => {
  const owner = new Owner("valid")
  await Promise.all([owner.lifecycle.deactivate("idle"), owner.lifecycle.deactivate("leaving")])
  await owner.lifecycle.deactivate("asked")
  expect(Subject.log).toEqual(["onDeactivate idle"])
})

test("waits for onDeactivate until the request timeout, then logs a warning", async () => {
  const owner = new Owner("valid")
  Subject.hooks.deactivate = () => new Step().promise
  const isGone = owner.deactivate()
  await owner.clock.advance(999)
  expect(isGone()).toBe(false)
  await owner.clock.advance(1)
  expect([isGone(), owner.logged]).toEqual([
    true,
    ["onDeactivate did not end in time; the actor ends without it"],
  ])
})

test("an onDeactivate that throws is logged, and the activation ends", async () => {
  const owner = new Owner("valid")
  Subject.hooks.deactivate = () => Promise.reject(new Error("no"))
  await owner.lifecycle.deactivate("idle")
  expect([owner.logged, owner.lifecycle.state]).toEqual([["onDeactivate failed"], "invalid"])
})

test("a fenced activation is invalid at once, and gone when its turns and its hook have ended", async () => {
  const owner = new Owner("valid")
  owner.busy = true
  owner.fakeTenure.end("its node is fenced")
  const isGone = owner.deactivate()
  await settle()
  expect([owner.said.slice(1), Subject.log, isGone()]).toEqual([["invalid", "left with 0"], [], false])
  owner.busy = false
  owner.lifecycle.turnsEnded()
  await settle()
  expect([Subject.log, isGone()]).toEqual([["onDeactivate fenced"], true])
})

test("an activation fenced while it ends leaves the catalog at once, unreleased, and runs its hook once", async () => {
  const owner = new Owner("valid")
  const hook = new Step()
  Subject.hooks.deactivate = () => hook.promise
  const isGone = owner.deactivate()
  await settle()
  owner.fakeTenure.end("its node is fenced")
  expect(owner.said.slice(-2)).toEqual(["invalid", "left with 0"])
  hook.end()
  await settle()
  expect([Subject.log, isGone()]).toEqual([["onDeactivate asked"], true])
  expect(owner.said.filter((one) => one.startsWith("left"))).toEqual(["left with 0"])
})

test("the hook gets the reason fenced if the fence came while the last turns ran", async () => {
  const owner = new Owner("valid")
  owner.busy = true
  void owner.lifecycle.deactivate("idle")
  await settle()
  owner.fakeTenure.end("its node is fenced")
  owner.busy = false
  owner.lifecycle.turnsEnded()
  await settle()
  expect(Subject.log).toEqual(["onDeactivate fenced"])
})

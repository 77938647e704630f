import { expect, test } from "vitest"
import { WatchedRef } from "../../test/virtual/watched-ref.js"
import type { Watcher } from "../actor/internal-ref.js"
import { Terminated } from "../actor/signals.js"
import { ActorId } from "../address/actor-id.js"
import { ActivationWatches } from "./activation-watches.js"
import type { OwnTask } from "./own-task.js"

/** Watches whose queued tasks the test runs. */
function setUp() {
  const waiting: OwnTask[] = []
  const owner = {
    id: ActorId.of("test", "Subject", "one"),
    key: "Subject/one",
    isInvalid: false,
    enqueueOwn: (task: OwnTask) => waiting.push(task),
    taskFailed: () => {},
  }
  const seen: Terminated[] = []
  const see = (terminated: Terminated) => {
    seen.push(terminated)
  }
  return { owner, waiting, seen, see, watches: new ActivationWatches(owner), ref: new WatchedRef() }
}

test("the end of a watched actor is queued as a message of the actor to itself, and does not count as use", () => {
  const { watches, waiting, ref, see, seen } = setUp()
  const cause = new Error("broken")
  watches.add(ref, see)
  expect(waiting).toEqual([])
  ref.end(cause)
  const [task] = waiting as [OwnTask]
  expect(task).toMatchObject({ key: "Subject/one", kind: "watch", isOneWay: true, isBackground: true })
  expect(seen).toEqual([])
  task.run()
  expect(seen).toEqual([new Terminated(ref, cause)])
})

test("an actor that is gone already is reported while the watch begins, and then no longer watched", () => {
  class Gone extends WatchedRef {
    override addWatcher(watcher: Watcher): void {
      watcher.terminated(new Terminated(this, undefined))
    }
    override removeWatcher(): void {
      throw new Error("is not watched")
    }
  }
  const { watches, waiting, see } = setUp()
  watches.add(new Gone(), see).cancel()
  watches.add(new Gone(), see)
  watches.end()
  expect(waiting.map(({ isOver }) => isOver)).toEqual([true, false])
})

test("a signal names the ref that was passed to watch, also if that resolves to another one", () => {
  class Alias extends WatchedRef {
    override current() {
      return ref
    }
  }
  const { watches, waiting, see, seen, ref } = setUp()
  const alias = new Alias()
  watches.add(alias, see)
  expect([alias.watchers.size, ref.watchers.size]).toEqual([0, 1])
  ref.end()
  waiting[0]?.run()
  expect(seen[0]?.ref).toBe(alias)
})

test("each watch of one ref is its own, and is cancelled alone", () => {
  const { watches, waiting, ref, see } = setUp()
  const first = watches.add(ref, see)
  watches.add(ref, see)
  expect(ref.watchers.size).toBe(2)
  first.cancel()
  first.cancel()
  expect(ref.watchers.size).toBe(1)
  ref.end()
  expect(waiting.map(({ isOver }) => isOver)).toEqual([false])
})

test("after cancel no task runs: neither one that is queued, nor one whose signal was in flight", () => {
  const { watches, waiting, ref, see } = setUp()
  const queued = watches.add(ref, see)
  ref.end()
  queued.cancel()
  expect(waiting.map(({ isOver }) => isOver)).toEqual([true])
  const late = watches.add(ref, see)
  const [watcher] = ref.watchers as Set<Watcher> & Iterable<Watcher>
  late.cancel()
  watcher?.terminated(new Terminated(ref, undefined))
  expect(waiting.length).toBe(1)
})

test("the end of the activation leaves no watcher behind, and none can be added after it", () => {
  const { owner, watches, waiting, ref, see } = setUp()
  watches.add(ref, see)
  watches.add(ref, see)
  owner.isInvalid = true
  watches.end()
  expect(ref.watchers.size).toBe(0)
  watches.add(ref, see).cancel()
  watches.add(ref, see)
  expect(ref.watchers.size).toBe(0)
  ref.end()
  expect(waiting).toEqual([])
})

test("what is not a ref is refused", () => {
  const { watches, see } = setUp()
  expect(() => watches.add({} as never, see)).toThrow("not an actor ref; get one from spawn")
})

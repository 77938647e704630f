import { beforeEach, describe, expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { ActorId } from "../address/actor-id.js"
import { ActorTable, HeldActor } from "../registry/actor-table.js"
import type { Incarnation } from "../registry/incarnation.js"
import { HeldShard } from "./held-shard.js"
import { ShardTenure } from "./shard-tenure.js"

/** A shard at generation 5, and the actors of its node. */
class Setup {
  readonly table = new ActorTable(HeldActor)
  readonly running = new Set<string>()
  readonly ended: string[] = []
  mayAct = true
  readonly incarnation = {
    mayAct: () => this.mayAct,
    opened: () => Promise.resolve(this.mayAct),
  } as unknown as Incarnation
  readonly shard = this.#make(7)

  /** Another shard of the same node. */
  readonly other = this.#make(8)

  start(key: string, shard = this.shard): ShardTenure {
    const tenure = new ShardTenure(ActorId.of("test", "User", key), shard)
    shard.add(tenure)
    this.table.at(tenure.id.name).held = tenure
    return tenure
  }

  #make(number: number): HeldShard {
    const key = `shards/User/${number}`
    return new HeldShard(
      { number, key },
      { incarnation: this.incarnation, generation: 5 },
      {
        table: this.table,
        isRunning: (name) => this.running.has(name),
        tenureEnded: ({ id }) => this.ended.push(id.key),
      },
    )
  }
}

let setup: Setup

beforeEach(() => {
  setup = new Setup()
})

/** Whether the promise has resolved by now. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false
  void promise.then(() => {
    resolved = true
  })
  await settle()
  return resolved
}

describe("an open shard", () => {
  test("lets every actor start, under its generation", () => {
    const { shard } = setup
    expect(shard.mayStart("User/a")).toBe("now")
    const tenure = setup.start("a")
    expect([tenure.generation, tenure.recordKey, tenure.mayBegin(), tenure.mayAct()]).toEqual([
      5,
      "shards/User/7",
      true,
      true,
    ])
    expect(tenure.isEnding).toBe(false)
  })

  test("knows the actors that are here, in whichever order they end", () => {
    const { shard } = setup
    const [a, b, c] = ["a", "b", "c"].map((key) => setup.start(key)) as [
      ShardTenure,
      ShardTenure,
      ShardTenure,
    ]
    expect([[...shard.names()].sort(), shard.size]).toEqual([["User/a", "User/b", "User/c"], 3])
    b.end("asked")
    expect([...shard.names()].sort()).toEqual(["User/a", "User/c"])
    c.end("asked")
    expect([...shard.names()]).toEqual(["User/a"])
    const d = setup.start("d")
    a.end("asked")
    expect([[...shard.names()], shard.size]).toEqual([["User/d"], 1])
    d.end("asked")
    expect([[...shard.names()], shard.size]).toEqual([[], 0])
    expect(setup.ended).toEqual(["b", "c", "a", "d"])
  })

  test("a tenure that ends twice ends once", () => {
    const tenure = setup.start("a")
    tenure.end("first")
    tenure.end("second")
    expect([tenure.endedBecause, setup.shard.size, setup.ended]).toEqual(["first", 0, ["a"]])
  })
})

describe("an actor whose last activation", () => {
  test("ended in order may start under the same generation", () => {
    const tenure = setup.start("a")
    tenure.end("idle", { isSettled: true })
    expect(setup.shard.mayStart("User/a")).toBe("now")
  })

  test("did not end in order may start only under a new one, unlike all others", () => {
    const { shard } = setup
    const tenure = setup.start("a")
    tenure.end("its save was refused")
    expect([shard.mayStart("User/a"), shard.mayStart("User/b")]).toEqual(["unsettled", "now"])
    shard.renewed(9)
    expect([shard.mayStart("User/a"), shard.generation]).toEqual(["now", 9])
  })
})

describe("a new generation", () => {
  test("is that of the activations that go on, and not of those that have ended", () => {
    const [running, hung] = [setup.start("a"), setup.start("b")]
    hung.end("its hook did not end")
    setup.shard.renewed(9)
    expect([running.generation, hung.generation]).toEqual([9, 5])
    expect([running.mayAct(), hung.mayAct()]).toEqual([true, false])
  })

  test("lets everything go on that waited for it", async () => {
    const waiting = setup.shard.decided("User/a")
    expect(await isResolved(waiting)).toBe(false)
    setup.shard.renewed(9)
    expect(await isResolved(waiting)).toBe(true)
  })
})

describe("a closing shard", () => {
  test("starts neither actors nor turns, and lets those that run act", () => {
    const { shard } = setup
    const tenure = setup.start("a")
    shard.close()
    expect([shard.isOpen, shard.mayStart("User/b"), shard.mayStart("User/a")]).toEqual([
      false,
      "closing",
      "closing",
    ])
    expect([tenure.mayBegin(), tenure.mayAct(), tenure.isEnding]).toEqual([false, true, true])
  })

  test("is open again for everybody after a move that was abandoned", async () => {
    const { shard } = setup
    const tenure = setup.start("a")
    shard.close()
    shard.need("User/b")
    const waiting = shard.decided("User/c")
    shard.reopen()
    expect([shard.isOpen, shard.mayStart("User/c"), tenure.mayBegin()]).toEqual([true, "now", true])
    expect(await isResolved(waiting)).toBe(true)
    shard.close()
    expect(shard.mayStart("User/b")).toBe("closing")
  })

  test("is empty once the last actor has ended", async () => {
    const { shard } = setup
    const [a, b] = [setup.start("a"), setup.start("b")]
    shard.close()
    const emptied = shard.emptied()
    a.end("moved")
    expect(await isResolved(emptied)).toBe(false)
    b.end("moved")
    expect(await isResolved(emptied)).toBe(true)
    expect(await isResolved(shard.emptied())).toBe(true)
  })

  test("whatever waits for it goes on when it is gone", async () => {
    const { shard } = setup
    shard.close()
    const waiting = shard.decided("User/a")
    shard.shut("moved")
    expect(await isResolved(waiting)).toBe(false)
    shard.leave()
    expect(await isResolved(waiting)).toBe(true)
  })
})

describe("while a shard closes, a call", () => {
  test("is awaited if a turn that runs in the shard is in its chain", () => {
    const { shard, running } = setup
    setup.start("a")
    setup.start("idle")
    setup.start("elsewhere", setup.other)
    running.add("User/a").add("User/elsewhere")
    shard.close()
    expect(shard.isAwaiting(["Order/1", "User/a"])).toBe(true)
    expect(shard.isAwaiting(["User/a", "Order/1"])).toBe(true)
    expect(shard.isAwaiting(["User/idle"])).toBe(false)
    expect(shard.isAwaiting(["User/elsewhere"])).toBe(false)
    expect(shard.isAwaiting(["User/nobody"])).toBe(false)
    expect(shard.isAwaiting([])).toBe(false)
  })

  test("is awaited if a turn of another shard that closes is in its chain", () => {
    const { shard, other, running } = setup
    setup.start("elsewhere", other)
    running.add("User/elsewhere")
    shard.close()
    other.close()
    expect(shard.isAwaiting(["User/elsewhere"])).toBe(true)
    running.clear()
    expect(shard.isAwaiting(["User/elsewhere"])).toBe(false)
  })

  test("is awaited by nobody once the shard is shut, as another node may have it", () => {
    const { shard, other, running } = setup
    setup.start("elsewhere", other)
    running.add("User/elsewhere")
    shard.strand()
    other.close()
    shard.shut("moved")
    expect(shard.isAwaiting(["User/elsewhere"])).toBe(false)
    expect(shard.mayStart("User/b")).toBe("closing")
    shard.renewed(9)
    expect(shard.mayStart("User/b")).toBe("now")
  })

  test("is awaited, if nobody else can have the shard, by a turn of any actor of the node", () => {
    const { shard, other, running } = setup
    setup.start("elsewhere", other)
    setup.start("idle", other)
    running.add("User/elsewhere")
    shard.strand()
    expect(shard.isOpen).toBe(false)
    expect(shard.isAwaiting(["User/elsewhere"])).toBe(true)
    expect(shard.isAwaiting(["User/idle"])).toBe(false)
    expect(shard.isAwaiting(["User/nobody"])).toBe(false)
    shard.reopen()
    shard.close()
    expect(shard.isAwaiting(["User/elsewhere"])).toBe(false)
  })

  test("lets turns of its actor start that the shard awaits, then and from then on", () => {
    const { shard, running } = setup
    setup.start("a")
    const callee = setup.start("b")
    running.add("User/a")
    shard.close()
    expect(callee.isNeededBy(["User/c"])).toBe(false)
    expect(callee.mayBegin()).toBe(false)
    expect(callee.isNeededBy(["User/a"])).toBe(true)
    expect(callee.mayBegin()).toBe(true)
  })

  test("changes nothing while the shard is open", () => {
    const { running } = setup
    const callee = setup.start("b")
    setup.start("a")
    running.add("User/a")
    expect(callee.isNeededBy(["User/a"])).toBe(false)
  })

  test("lets its actor start that has not, and nobody else", async () => {
    const { shard } = setup
    shard.close()
    const [needed, other] = [shard.decided("User/b"), shard.decided("User/c")]
    expect(shard.needs("User/b")).toBe(false)
    shard.need("User/b")
    expect([shard.needs("User/b"), shard.mayStart("User/b"), shard.mayStart("User/c")]).toEqual([
      true,
      "now",
      "closing",
    ])
    expect([await isResolved(needed), await isResolved(other)]).toEqual([true, false])
    expect(setup.start("b", shard).mayBegin()).toBe(true)
  })

  test("does not let an actor start that did not end in order", () => {
    const { shard } = setup
    setup.start("a").end("its save was refused")
    shard.close()
    shard.need("User/a")
    expect(shard.mayStart("User/a")).toBe("unsettled")
  })
})

describe("saves", () => {
  test("begin at once while none is held back", () => {
    const tenure = setup.start("a")
    expect(tenure.saving()).toBeUndefined()
    tenure.saved()
  })

  test("in flight are awaited before the shard is claimed again, and no other begins", async () => {
    const [a, b] = [setup.start("a"), setup.start("b")]
    expect([a.saving(), b.saving()]).toEqual([undefined, undefined])
    const decided = setup.shard.holdSaves()
    const held = a.saving() as Promise<void>
    a.saved()
    expect([await isResolved(decided), await isResolved(held)]).toEqual([false, false])
    b.saved()
    expect([await isResolved(decided), await isResolved(held)]).toEqual([true, false])
    setup.shard.renewed(9)
    expect(await isResolved(held)).toBe(true)
  })

  test("that were held back count as in flight for the next claim", async () => {
    const { shard } = setup
    const [a, b] = [setup.start("a"), setup.start("b")]
    expect(await isResolved(shard.holdSaves())).toBe(true)
    const held = [a.saving() as Promise<void>, b.saving() as Promise<void>]
    shard.renewed(9)
    await Promise.all(held)
    const decided = shard.holdSaves()
    a.saved()
    expect(await isResolved(decided)).toBe(false)
    b.saved()
    expect(await isResolved(decided)).toBe(true)
  })

  test("that were held back wait again if the next claim begins before they do", async () => {
    const { shard } = setup
    const tenure = setup.start("a")
    await shard.holdSaves()
    const held = tenure.saving() as Promise<void>
    shard.renewed(9)
    const decided = shard.holdSaves()
    expect([await isResolved(held), await isResolved(decided)]).toEqual([false, true])
    shard.renewed(11)
    expect(await isResolved(held)).toBe(true)
  })

  test("that are held back go on, to be refused, if the shard is shut", async () => {
    const tenure = setup.start("a")
    await setup.shard.holdSaves()
    const held = tenure.saving() as Promise<void>
    setup.shard.shut("its shard was lost")
    expect(await isResolved(held)).toBe(true)
    expect(tenure.mayAct()).toBe(false)
  })
})

describe("a shut shard", () => {
  test("has shut the doors of all actors in one step, with one reason", async () => {
    const tenures = ["a", "b", "c"].map((key) => setup.start(key))
    const seen: boolean[] = []
    tenures[0]?.watch({ tenureEnded: () => seen.push(setup.shard.isOpen) })
    setup.shard.shut("its shard has moved")
    expect(tenures.map((tenure) => [tenure.mayAct(), tenure.mayBegin(), tenure.endedBecause])).toEqual(
      tenures.map(() => [false, false, "its shard has moved"]),
    )
    expect([setup.shard.size, seen]).toEqual([0, [false]])
    expect(await Promise.all(tenures.map((tenure) => tenure.opened()))).toEqual([false, false, false])
  })

  test("has no effect on other shards of the node", () => {
    const other = setup.start("b", setup.other)
    setup.shard.shut("its shard has moved")
    expect(other.mayAct()).toBe(true)
  })
})

test("no door is open while the node may not act, and none is shut for good", async () => {
  const tenure = setup.start("a")
  setup.mayAct = false
  expect([tenure.mayAct(), tenure.mayBegin(), await tenure.opened()]).toEqual([false, false, false])
  setup.mayAct = true
  expect([tenure.mayAct(), tenure.mayBegin(), await tenure.opened()]).toEqual([true, true, true])
})

import { expect } from "vitest"
import { pause } from "../../tools/pause.js"
import type { StoreOptions } from "../../tools/store-options.js"
import { ClerkNodes } from "./clerk-nodes.js"
import type { ClerkType } from "./programs/node.js"

/**
 * What clusters leave behind whose nodes are all killed, and what those find that start an hour later by the wall
 * clock. Each function is one scenario, with real processes.
 */
export interface Lives {
  readonly namespace: string
  readonly store: StoreOptions
  readonly nodes: number
  readonly type: ClerkType
}

const HOUR_MS = 3_600_000

/** The nodes are killed while the turn of a reminder that is due runs, so that it is not stored. */
export async function killedWhileItFires(lives: Lives): Promise<void> {
  const { type } = lives
  const first = await start(lives, { isStuck: true })
  // A keeper that is new records what it fires, and the next one is in no hurry with it.
  await first.call("remind", type, "tea", { afterMs: 0 }, "ready")
  await first.begun("firing", "tea", 1)
  expect((await first.call("look", type, "tea")).fired).toHaveLength(1)
  const setAt = Date.now()
  await first.call("remind", type, "tea", { afterMs: 200 }, { for: "two" })
  const isSetAt = Date.now()
  await first.begun("firing", "tea", 2)
  await first.kill()

  const second = await startLater(lives)
  await second.begun("firing", "tea", 1)
  const { fired } = await second.call("look", type, "tea")
  expect(fired).toEqual([
    { name: "tea", at: expect.any(Number), missed: 0, argument: "ready" },
    { name: "tea", at: expect.any(Number), missed: 0, argument: { for: "two" } },
  ])
  expect(fired[1]?.at).toBeGreaterThanOrEqual(setAt + 200)
  expect(fired[1]?.at).toBeLessThanOrEqual(isSetAt + 200)
  await expectNoMore(second, type, "tea", 1)
}

/** The nodes stand still from before the time of a reminder on, and are killed after it. */
export async function killedBeforeItFires(lives: Lives): Promise<void> {
  const { type } = lives
  const first = await start(lives, { isStuck: false })
  const at = Date.now() + 3_000
  await first.call("remind", type, "tea", { at })
  await first.halt()
  await pause(at + 10 - Date.now())
  expect(Date.now()).toBeGreaterThan(at)
  await first.kill()
  expect(first.events.items).toEqual([])

  const second = await startLater(lives)
  await second.begun("firing", "tea", 1)
  const { fired } = await second.call("look", type, "tea")
  expect(fired).toEqual([{ name: "tea", at, missed: 0, argument: undefined }])
  await expectNoMore(second, type, "tea", 1)
}

/** What was missed while no node was there either runs, or is counted by what runs: six occurrences. */
export async function recurringMissed(lives: Lives): Promise<void> {
  const { type } = lives
  // Of the next minutes that it names, none is near.
  const minute = (new Date().getUTCMinutes() + 5) % 10
  const every = { everyMs: STEP_MS }
  const cron = { cron: `${minute}-59/10 * * * *`, zone: "Europe/Berlin" }
  const schedules = {
    "every, latest": { ...every, missed: "latest" },
    "every, all": { ...every, missed: "all" },
    "cron, latest": { ...cron, missed: "latest" },
    "cron, all": { ...cron, missed: "all" },
  } as const
  const first = await start(lives, { isStuck: false })
  const setAt = Date.now()
  for (const [key, schedule] of Object.entries(schedules)) await first.call("remind", type, key, schedule)
  const isSetAt = Date.now()
  await first.kill()
  expect(first.events.items).toEqual([])

  const second = await startLater(lives)
  for (const [key, { missed }] of Object.entries(schedules)) {
    await second.begun("firing", key, missed === "all" ? 6 : 1)
    const { fired } = await second.call("look", type, key)
    expect(
      fired.map((one) => one.missed),
      key,
    ).toEqual(missed === "all" ? [0, 0, 0, 0, 0, 0] : [5])
    const oldest = (fired[0]?.at ?? 0) - (fired[0]?.missed ?? 0) * STEP_MS
    expect(
      fired.map(({ at }) => (at - oldest) / STEP_MS),
      key,
    ).toEqual(missed === "all" ? [0, 1, 2, 3, 4, 5] : [5])
    const next = (time: number) => (key.startsWith("cron") ? nextOfCron(time, minute) : time + STEP_MS)
    expect(oldest, key).toBeGreaterThanOrEqual(next(setAt))
    expect(oldest, key).toBeLessThanOrEqual(next(isSetAt))
    await expectNoMore(second, type, key, fired.length)
  }
}

/** Messages were stored and not delivered, or in delivery, when all nodes were killed. */
export async function undeliveredMessages(lives: Lives): Promise<void> {
  const { type } = lives
  const first = await start(lives, { isStuck: true })
  const receivers = ["ann", "bob", "cleo"]
  const letters = ["one", "two", "three"]
  await first.call("write", type, "dora", receivers, letters)
  await first.begun("receiving", "ann", 1)
  await first.kill()

  const second = await startLater(lives)
  for (const key of receivers) {
    await second.begun("receiving", key, letters.length)
    expect(await second.call("look", type, key), key).toMatchObject({ letters })
  }
  expect(second.events.items.filter(({ kind }) => kind === "receiving")).toHaveLength(9)
}

const STEP_MS = 600_000

/** The first time after this one whose minute is that one, or ten minutes more, and so on. */
function nextOfCron(time: number, minute: number): number {
  const offset = minute * 60_000
  return (Math.floor((time - offset) / STEP_MS) + 1) * STEP_MS + offset
}

function start(
  { nodes, namespace, store }: Lives,
  { isStuck, aheadMs = 0 }: { isStuck: boolean; aheadMs?: number },
): Promise<ClerkNodes> {
  return ClerkNodes.start({ count: nodes, namespace, store, isStuck, aheadMs })
}

function startLater(lives: Lives): Promise<ClerkNodes> {
  return start(lives, { isStuck: false, aheadMs: HOUR_MS })
}

/**
 * A keeper passes over what is due from the beginning: were there an entry left, it would fire before a new one.
 * `count` have begun on these nodes.
 */
async function expectNoMore(nodes: ClerkNodes, type: ClerkType, key: string, count: number): Promise<void> {
  const before = (await nodes.call("look", type, key)).fired
  await nodes.call("remind", type, key, { afterMs: 0 }, "the last")
  await nodes.begun("firing", key, count + 1)
  const { fired } = await nodes.call("look", type, key)
  expect(fired.slice(0, -1)).toEqual(before)
  expect(fired.at(-1)?.argument).toBe("the last")
}

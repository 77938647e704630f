import { ActivationBecame, Actor, type ActorSystem } from "../../src/index.js"
import type { ClusterStore, Write } from "../../src/ports/store.js"
import { median } from "../quantile.js"
import { FAR_AHEAD_MS } from "../reminded-account.js"
import type { FreeRow } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes } from "../sqlite/scratch-registry.js"
import { openStore, scratchFile } from "../sqlite/scratch-store.js"
import { startOnFile } from "../sqlite/system-on-file.js"

const IN_FLIGHT = 64
const ACTORS = 512
const SATELLITES = 100
const ROUNDS = 5
/** A reminder is a row and an entry, and a turn changes at most 96 of both. */
const IN_A_TURN = 34

class Cluttered extends Actor<{ name: string }> {
  protected override initialState() {
    return { name: "" }
  }

  async fill(from: number, to: number) {
    const at = Date.now() + FAR_AHEAD_MS
    for (let number = from; number < to; number += 1) this.reminders.set(`due-${number}`, { at }, ARGUMENT)
    await this.save()
  }

  protected override onReminder() {}
}

/** Too much for the head of the state. */
const ARGUMENT = "x".repeat(200)

/**
 * Actors with 100 reminders each that are destroyed on SQLite, 64 at a time, until nothing of them runs and
 * all of their satellites are deleted; against the bare commits that delete as much.
 */
export const destroySatellites: FreeRow = {
  kind: "free",
  name: "destroy-satellites",
  unit: "actors/s",
  bar: { of: "ratio", better: "higher", at: 0.3 },
  async measure(progress) {
    const { file, remove } = scratchFile()
    const bare = scratchFile()
    const system = await startOnFile(file, Cluttered)
    const store = await openStore(bare.file)
    const destroyed: number[] = []
    const deleted: number[] = []
    for (let round = 0; round <= ROUNDS; round += 1) {
      progress(round === 0 ? "warming up" : `round ${round} of ${ROUNDS}`)
      destroyed.push(await destroyAll(system))
      deleted.push(await deleteAll(store))
    }
    await system.stop()
    await store.close()
    remove()
    bare.remove()
    const [value, limit] = [median(destroyed.slice(1)), median(deleted.slice(1))]
    return { value, limit, ratio: value / limit }
  },
}

/** Returns how many actors were destroyed in a second. */
async function destroyAll(system: ActorSystem): Promise<number> {
  await overActors(async (actor) => {
    const handle = system.actor(Cluttered, `actor-${actor}`)
    for (let from = 0; from < SATELLITES; from += IN_A_TURN) {
      await handle.fill(from, Math.min(SATELLITES, from + IN_A_TURN))
    }
  })
  let left = ACTORS
  let allGone: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    allGone = resolve
  })
  const subscription = system.events.subscribe(ActivationBecame, ({ state }) => {
    if (state === "invalid") left -= 1
    if (left === 0) allGone()
  })
  const beganAt = performance.now()
  await overActors((actor) => system.destroy(Cluttered, `actor-${actor}`))
  await gone
  const tookMs = performance.now() - beganAt
  subscription.cancel()
  return (ACTORS * 1_000) / tookMs
}

/** Deletes as many rows and entries: a head is marked, and each batch deletes 50 of both. */
async function deleteAll(store: ClusterStore): Promise<number> {
  const { epoch } = await store.get("any")
  const commit = async (writes: readonly Write[]) => {
    const result = await store.commit({ epoch, conditions: [], writes })
    if (result.kind !== "committed") throw new Error(`a commit was ${result.kind}`)
  }
  const head = (actor: number): Write => ({ kind: "put", key: `state/${actor}`, value: HEAD })
  await overActors(async (actor) => {
    for (const keys of batches(actor)) {
      await commit([head(actor), ...keys.map((key): Write => ({ kind: "put", key, value: ROW }))])
    }
  })
  const beganAt = performance.now()
  await overActors(async (actor) => {
    await commit([head(actor)])
    for (const keys of batches(actor)) {
      await commit([head(actor), ...keys.map((key): Write => ({ kind: "delete", key }))])
    }
  })
  return (ACTORS * 1_000) / (performance.now() - beganAt)
}

function batches(actor: number): readonly (readonly string[])[] {
  return [0, 50].map((from) =>
    Array.from({ length: 50 }, (_, at) => from + at).flatMap((number) => [
      `kin/Cluttered/${actor}/r/due-${number}`,
      `due/${actor % 256}/Cluttered/${"1".repeat(16)}/${actor}/due-${number}`,
    ]),
  )
}

const HEAD = new Uint8Array(100).fill(7)
const ROW = new Uint8Array(250).fill(7)

async function overActors(task: (actor: number) => Promise<void>): Promise<void> {
  let next = 0
  await inLanes(IN_FLIGHT, times(ACTORS), () => {
    next += 1
    return task(next)
  })
}

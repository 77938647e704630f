import assert from "node:assert/strict"
import type { ClusterStore, Commit, Condition, Revision, Write } from "../../ports/store.js"
import { absent, at, commit, contents, erase, put, type Rule, text, write } from "./scene.js"

/** Revisions only grow, and never repeat. */
export const revisionRules: readonly Rule[] = [
  [
    "revisions grow from commit to commit, whatever key is written",
    async (scene) => {
      const [one, two] = [await scene.open(), await scene.open()]
      const revisions: Revision[] = []
      for (let round = 0; round < 20; round += 1) {
        revisions.push(await write(round % 3 === 0 ? two : one, put(`key-${round % 4}`)))
      }
      assertGrowing(revisions)
    },
  ],
  [
    "a key that is deleted and written again has a higher revision",
    async (scene) => {
      const store = await scene.open()
      const revisions: Revision[] = []
      for (let round = 0; round < 5; round += 1) {
        revisions.push(await write(store, put("a")), await write(store, erase("a")))
      }
      assertGrowing(revisions)
      const last = revisions.at(-1) as Revision
      const absentAt = await absenceOf(store, "a")
      assert(absentAt >= last, `a key that was deleted at ${last} is absent at ${absentAt}`)
      assert((await write(store, put("a"))) > absentAt)
    },
  ],
  [
    "a reopened store has all values, and its revisions continue",
    async (scene) => {
      const before = await scene.open()
      const kept = await write(before, put("kept"))
      await write(before, put("gone"))
      const deleted = await write(before, erase("gone"))
      await scene.closeAll()
      const after = await scene.open()
      assert.deepEqual(await contents(after), [`kept=kept@${kept}`])
      const absentAt = await absenceOf(after, "gone")
      assert(absentAt >= deleted, `a key that was deleted at ${deleted} is absent at ${absentAt}`)
      assert(
        (await write(after, put("gone"))) > absentAt,
        "a revision was used again after the store was reopened",
      )
    },
  ],
  [
    "a key that was seen absent comes back with a higher revision, whoever writes it",
    async (scene) => {
      const [one, two] = [await scene.open(), await scene.open()]
      for (let round = 0; round < 10; round += 1) {
        const absentAt = await absenceOf(one, "a")
        const revision = await write(two, put("a"), put(`other-${round}`))
        assert(revision > absentAt, `a key that was absent at ${absentAt} has ${revision}`)
        const deleted = await write(one, erase("a"))
        assert((await absenceOf(two, "a")) >= deleted)
      }
    },
  ],
  [
    "a listing has the moment of the last commit, even if it has no entries",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a"))
      const revision = await write(store, put("b"))
      assert((await store.list("absent")).revision >= revision)
      const before = await store.list("", { limit: 1, keysOnly: true })
      assert((await write(store, put("c"))) > before.revision)
    },
  ],
  [
    "500 random commits are evaluated as by the model",
    async (scene) => {
      const handles = [await scene.open(), await scene.open()]
      const expected = new Model()
      const draw = drawing(7)
      for (let count = 0; count < 500; count += 1) {
        const conditions = Array.from({ length: draw(3) }, () => expected.drawCondition(draw))
        const keys = new Set(Array.from({ length: draw(4) }, () => `key-${draw(KEYS)}`))
        const writes = [...keys].map((key) => (draw(3) === 0 ? erase(key) : put(key, `value-${count}`)))
        const reads = Array.from({ length: draw(3) }, () => `key-${draw(KEYS)}`).filter(
          (key) => !keys.has(key),
        )
        await expected.compare(handles[draw(2)] as ClusterStore, { conditions, writes, reads })
      }
      for (const handle of handles) assert.deepEqual(await contents(handle), expected.contents)
    },
  ],
]

const KEYS = 6

/** A model of the keys, and of the evaluation of commits that the port specifies. */
class Model {
  readonly #entries = new Map<string, { readonly value: string; readonly revision: Revision }>()
  readonly #seen: Revision[] = [0]

  get contents(): string[] {
    return [...this.#entries].map(([key, { value, revision }]) => `${key}=${value}@${revision}`).sort()
  }

  drawCondition(draw: (below: number) => number): Condition {
    const key = `key-${draw(KEYS)}`
    const present = this.#entries.get(key)
    if (draw(4) === 0) return at(key, this.#seen[draw(this.#seen.length)] as Revision)
    return present === undefined ? absent(key) : at(key, present.revision)
  }

  async compare(store: ClusterStore, made: Required<Omit<Commit, "epoch">>): Promise<void> {
    const { conditions, writes, reads = [] } = made
    const contradicted = conditions.filter((condition) => !this.#holds(condition))
    const result = await commit(store, made)
    const last = this.#seen.at(-1) as Revision
    if (contradicted.length > 0) {
      assert.equal(result.kind, "refused")
      if (result.kind !== "refused") return
      const found = result.found.map(({ key, entry }) => [key, text(entry?.value), entry?.revision])
      assert.deepEqual(
        found,
        contradicted.map(({ key }) => this.#stood(key)),
      )
      return
    }
    assert(result.kind === "committed")
    assert.deepEqual(
      result.read.map((entry, index) => [entry?.key ?? reads[index], text(entry?.value), entry?.revision]),
      reads.map((key) => this.#stood(key)),
    )
    this.#apply(writes, result.revision, last)
  }

  #stood(key: string): readonly [key: string, value: string | undefined, revision: Revision | undefined] {
    const entry = this.#entries.get(key)
    return [key, entry?.value, entry?.revision]
  }

  #holds(condition: Condition): boolean {
    const revision = this.#entries.get(condition.key)?.revision
    return condition.kind === "absent" ? revision === undefined : revision === condition.revision
  }

  #apply(writes: readonly Write[], revision: Revision, last: Revision): void {
    const changes = writes.filter(({ kind, key }) => kind === "put" || this.#entries.has(key))
    if (changes.length === 0) return
    assert(revision > last, `a commit after revision ${last} has ${revision}`)
    this.#seen.push(revision)
    for (const change of changes) {
      if (change.kind === "delete") this.#entries.delete(change.key)
      else this.#entries.set(change.key, { value: text(change.value), revision })
    }
  }
}

async function absenceOf(store: ClusterStore, key: string): Promise<Revision> {
  const sight = await store.get(key)
  assert(sight.entry === undefined, `${key} should be absent`)
  return sight.absentAt
}

/** Random numbers that are the same for every run: a linear congruential generator. */
export function drawing(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

function assertGrowing(revisions: readonly Revision[]): void {
  for (const [index, revision] of revisions.entries()) {
    const before = revisions[index - 1] ?? 0
    assert(revision > before, `revision ${revision} came after ${before}`)
  }
}

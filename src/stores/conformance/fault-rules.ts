import assert from "node:assert/strict"
import type { ClusterStore, Commit } from "../../ports/store.js"
import { type CallFault, faulty, type StoreCall } from "./faulty-store.js"
import { drawing } from "./revision-rules.js"
import {
  absent,
  at,
  committed,
  contents,
  fails,
  put,
  type Rule,
  refused,
  text,
  textAt,
  write,
} from "./scene.js"

/**
 * Faults between a client and the store: whatever happens, a client that lost an answer can determine the
 * outcome of its commit.
 */
export const faultRules: readonly Rule[] = [
  [
    "a commit that was refused temporarily can be made later",
    async (scene) => {
      const { store, made } = await meeting(await scene.open(), "refuse")
      await fails(store.commit(made), "not-committed")
      assert.deepEqual(await contents(store, "a"), [])
      committed(await store.commit(made))
    },
  ],
  [
    "a commit whose answer was lost is in the store, and is refused when it is sent again",
    async (scene) => {
      const { store, made } = await meeting(await scene.open(), "lose-answer")
      await fails(store.commit(made), "unknown")
      const { found } = refused(await store.commit(made))
      assert.equal(text(found[0]?.entry?.value), "mine")
    },
  ],
  [
    "a lost commit is not in the store, and is made when it is sent again",
    async (scene) => {
      const { store, made } = await meeting(await scene.open(), "lose-request")
      await fails(store.commit(made), "unknown")
      assert.deepEqual(await contents(store, "a"), [])
      committed(await store.commit(made))
    },
  ],
  [
    "a late commit is refused if its conditions no longer hold",
    async (scene) => {
      const { store, made } = await meeting(await scene.open(), "arrive-late")
      await fails(store.commit(made), "unknown")
      const revision = committed(await store.commit(made))
      await store.release()
      assert.deepEqual(await contents(store, "a"), [`a=mine@${revision}`])
    },
  ],
  [
    "a late commit takes effect if its conditions still hold",
    async (scene) => {
      const { store, made } = await meeting(await scene.open(), "arrive-late")
      await fails(store.commit(made), "unknown")
      assert.equal((await store.get("a")).entry, undefined)
      await store.release()
      assert.equal(await textAt(store, "a"), "mine")
    },
  ],
  [
    "a late commit at a revision never overwrites later changes, including deletes",
    async (scene) => {
      const plain = await scene.open()
      const revision = await write(plain, put("a", "first"))
      const { epoch } = await plain.get("a")
      const store = faulty(plain, ({ index }) => (index < 3 ? "arrive-late" : undefined))
      for (const value of ["x", "y", "z"]) {
        const late = { epoch, conditions: [at("a", revision)], writes: [put("a", value)] }
        await fails(store.commit(late), "unknown")
      }
      await write(plain, { kind: "delete", key: "a" })
      const last = await write(plain, put("a", "second"))
      await store.release()
      assert.deepEqual(await contents(plain), [`a=second@${last}`])
    },
  ],
  [
    "a commit that hangs is answered when the store resumes",
    async (scene) => {
      const { store, made } = await meeting(await scene.open(), "hang")
      const answer = store.commit(made)
      assert.equal((await store.get("a")).entry, undefined)
      await store.release()
      committed(await answer)
    },
  ],
  [
    "additions are counted once, whatever happens to their answers",
    async (scene) => {
      const plain = await scene.open()
      const faults = [undefined, undefined, "refuse", "lose-request", "lose-answer", "arrive-late"] as const
      let acknowledged = 0
      await Promise.all(
        ["ann", "bob", "cid"].map(async (name, index) => {
          const draw = drawing(index + 1)
          const handle = await scene.open()
          const store = faulty(handle, ({ kind }) => (kind === "commit" ? faults[draw(6)] : undefined))
          for (let count = 0; count < 10; count += 1) {
            await addOnce(store, `${name}-${count}`)
            acknowledged += 1
            if (draw(3) === 0) await store.release()
          }
          await store.release()
        }),
      )
      const ids = (await textAt(plain, "ids"))?.split(" ") ?? []
      assert.equal(acknowledged, 30)
      assert.equal(ids.length, 30)
      assert.equal(new Set(ids).size, 30)
    },
  ],
]

/** The first commit through this handle meets the fault. */
async function meeting(plain: ClusterStore, fault: CallFault) {
  const { epoch } = await plain.get("a")
  let commits = 0
  const plan = ({ kind }: StoreCall) => {
    if (kind !== "commit") return undefined
    commits += 1
    return commits === 1 ? fault : undefined
  }
  const made: Commit = { epoch, conditions: [absent("a")], writes: [put("a", "mine")] }
  return { store: faulty(plain, plan), made }
}

/**
 * Appends an id. If the answer is lost it reads: if the id is there, the append was done; if not, the same
 * commit is sent again on the same conditions, which decides the outcome, because the later of the two is
 * refused.
 */
async function addOnce(store: ClusterStore, id: string): Promise<void> {
  for (;;) {
    const { epoch, entry } = await store.get("ids")
    const ids = text(entry?.value)?.split(" ") ?? []
    if (ids.includes(id)) return
    const condition = entry === undefined ? absent("ids") : at("ids", entry.revision)
    const made: Commit = { epoch, conditions: [condition], writes: [put("ids", [...ids, id].join(" "))] }
    if ((await decide(store, made)) === "committed") return
  }
}

async function decide(store: ClusterStore, made: Commit): Promise<string> {
  for (;;) {
    try {
      return (await store.commit(made)).kind
    } catch (error) {
      assert.equal((error as { code?: unknown }).code, "StoreUnavailable")
    }
  }
}

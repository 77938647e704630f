import { expect, it } from "vitest"
import type { Change } from "../../../src/ports/store.js"
import { allUnder } from "../../../src/stores/conformance/scene.js"
import { sqliteStore } from "./built-store.js"
import { StoreProgram } from "./program.js"
import { put, scratch } from "./scratch.js"

const { path, open } = scratch()

interface Pair {
  readonly key: string
  readonly revision: number
}

it.each([2, 4])("lets %i processes commit at the same time, and all of them make progress", async (count) => {
  const programs = Array.from(
    { length: count },
    (_, index) => new StoreProgram<Pair>("write-pairs", [path(), `${index}`]),
  )
  for (const program of programs) await program.until(300)
  for (const program of programs) await program.until(program.reports.length + 300)
  const store = await open(sqliteStore({ file: path() }))
  const before = await store.list("")
  expect(await put(store, "mine")).toBeGreaterThan(before.revision)
  for (const program of programs) await program.kill()
  const revisions = programs.flatMap(({ reports }) => reports.map(({ revision }) => revision))
  expect(new Set(revisions).size).toBe(revisions.length)
})

it("has every acknowledged commit after its processes were killed, and no partial ones", async () => {
  const acknowledged: Pair[] = []
  for (let life = 0; life < 4; life += 1) {
    const programs = ["a", "b"].map(
      (name) => new StoreProgram<Pair>("write-pairs", [path(), `${life}${name}`]),
    )
    for (const program of programs) await program.until(100)
    for (const program of programs) await program.kill()
    acknowledged.push(...programs.flatMap(({ reports }) => reports))
    const store = await open(sqliteStore({ file: path() }))
    const entries = await allUnder(store, "nodes/")
    const there = new Map(entries.map(({ key, revision }) => [key, revision]))
    for (const { key, revision } of acknowledged) {
      expect([key, there.get(`${key}/left`)]).toEqual([key, revision])
    }
    for (const [key, revision] of there) {
      const twin = key.endsWith("left") ? key.replace(/left$/, "right") : key.replace(/right$/, "left")
      expect([twin, there.get(twin)]).toEqual([twin, revision])
    }
    await store.close()
  }
})

it("delivers the commits of other processes to a watch, once, in order, and commit by commit", async () => {
  const store = await open(sqliteStore({ file: path() }))
  const from = await store.list("")
  const told: (readonly Change[])[] = []
  const isOver = new Promise<void>((resolve, reject) => {
    store.watch("nodes/", from, {
      changed: (changes) => {
        told.push(changes)
        if (changes[0]?.key === "nodes/end") resolve()
      },
      gap: () => reject(new Error("a gap")),
    })
  })
  const programs = ["a", "b"].map((name) => new StoreProgram<Pair>("write-pairs", [path(), name]))
  for (const program of programs) await program.until(200)
  for (const program of programs) await program.kill()
  const entries = await allUnder(store, "nodes/")
  const end = await put(store, "nodes/end")
  await isOver
  expect(told.map(([first]) => first?.revision)).toEqual(Array.from({ length: end }, (_, index) => index + 1))
  const pairs = told.slice(0, -1)
  expect(pairs.every((changes) => changes.length === 2)).toBe(true)
  expect(pairs.flatMap((changes) => changes.map(({ key }) => key)).sort()).toEqual(
    entries.map(({ key }) => key),
  )
})

it("creates one store if several processes open a new file at once", async () => {
  for (let round = 0; round < 3; round += 1) {
    const file = path(`round-${round}.db`)
    const programs = Array.from({ length: 6 }, () => new StoreProgram<object>("identify", [file]))
    const reports = (await Promise.all(programs.map((program) => program.until(1)))).flat()
    expect(await Promise.all(programs.map(({ ending }) => ending))).toEqual(Array(6).fill("exit code 0"))
    expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(1)
  }
})

it("does not keep a process alive, and loses nothing when the process ends", async () => {
  const program = new StoreProgram<string>("leave-open", [path()])
  expect(await program.ending).toBe("exit code 0")
  expect(program.reports).toEqual(["committed"])
  const store = await open(sqliteStore({ file: path() }))
  expect((await store.get("left")).entry?.revision).toBe(1)
})

it("lets a process exit while its store is busy, with its exit code", async () => {
  for (let round = 0; round < 3; round += 1) {
    const program = new StoreProgram<string>("exit-busy", [path()])
    expect(await program.ending).toBe("exit code 7")
    expect(program.reports).toEqual(["busy"])
  }
})

it("reports that the system accepts no more bytes, and keeps acknowledged commits", async () => {
  const program = new StoreProgram<{ acknowledged: number; left: unknown }>("fill", [path()], "ulimit -f 512")
  const [report] = await program.until(1)
  expect(report).toMatchObject({ code: "StoreUnavailable", commitment: "unknown", problem: "disk" })
  expect(await program.ending).toBe("exit code 0")
  expect(report?.acknowledged).toBeGreaterThan(3)
  const store = await open(sqliteStore({ file: path() }))
  const { entries } = await store.list("k")
  expect(entries.length).toBeGreaterThanOrEqual(report?.acknowledged ?? 0)
  expect(entries.length).toBeLessThanOrEqual((report?.acknowledged ?? 0) + 1)
})

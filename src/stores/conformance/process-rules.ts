import assert from "node:assert/strict"
import type { Revision } from "../../ports/store.js"
import { OtherProcess } from "./other-process.js"
import type { Job, Report } from "./process.js"
import { allUnder, contents, put, type Rule, type Scene, textAt, write } from "./scene.js"
import { WatchLog } from "./watch-log.js"

/** Several processes on one store. */
export function processRules(module: string): readonly Rule[] {
  const start = (scene: Scene, job: Job) => OtherProcess.start(module, scene.underTest, job)

  const race = (count: number): Rule => [
    `${count} processes that increment one number lose no increment, and see each revision once`,
    async (scene) => {
      const store = await scene.open()
      const job: Job = { kind: "increment", key: "count", times: 50 }
      const processes = await Promise.all(Array.from({ length: count }, () => start(scene, job)))
      await withAll(processes, async () => {
        const revisions = (await Promise.all(processes.map(revisionsOf))).flat()
        assert.equal(await textAt(store, "count"), String(50 * count))
        assert.equal(new Set(revisions).size, 50 * count)
      })
    },
  ]

  return [
    race(2),
    race(4),
    [
      "acknowledged commits survive the death of their process, and every commit is complete or absent",
      async (scene) => {
        const first = await scene.open()
        let last: Revision = 0
        for (let life = 0; life < 3; life += 1) {
          const names = [`${life}a`, `${life}b`]
          const processes = await Promise.all(names.map((name) => start(scene, { kind: "pairs", name })))
          await withAll(processes, async () => {
            for (const one of processes)
              await one.until((report) => report.kind === "paired" && report.number >= 40)
          })
          const again = await scene.open()
          const entries = await allUnder(again, "pairs/")
          const { revision } = await again.list("pairs/", { limit: 1 })
          const there = new Map(entries.map((entry) => [entry.key, entry.revision]))
          assert(revision > last, `the revision went from ${last} to ${revision}`)
          last = revision
          for (const [index, one] of processes.entries()) {
            const acknowledged = one.reports.filter((report) => report.kind === "paired")
            assert(acknowledged.length > 0)
            for (const report of acknowledged) {
              const left = `pairs/${names[index]}/${report.number}/left`
              assert.equal(there.get(left), report.revision, `${left} was acknowledged`)
            }
          }
          for (const [key, revisionOfKey] of there) {
            const twin = key.endsWith("/left") ? key.replace(/left$/, "right") : key.replace(/right$/, "left")
            assert.equal(there.get(twin), revisionOfKey, `${key} and ${twin} were written in one commit`)
          }
          assert.deepEqual(await contents(first), await contents(again))
        }
        assert((await write(first, put("after"))) > last)
      },
    ],
    [
      "a watch receives the commits of other processes, once and in order",
      async (scene) => {
        const store = await scene.open()
        const log = new WatchLog(store, "own/", await store.list("wards/own/"))
        const names = ["ann", "bob"]
        const jobs = names.map((name): Job => ({ kind: "write", key: `wards/own/${name}`, times: 40 }))
        const watching = await start(scene, { kind: "watch", prefix: "wards/own/" })
        const writing = await Promise.all(jobs.map((job) => start(scene, job)))
        await withAll([watching, ...writing], async () => {
          const revisions = (await Promise.all(writing.map(revisionsOf))).flat().sort((one, two) => one - two)
          const end = await write(store, put("wards/own/end", "here"))
          await log.until("own/end=here")
          await watching.until(
            (report) => report.kind === "changed" && report.lines.join().includes("own/end"),
          )
          const remote = watching.reports.flatMap((report) => (report.kind === "changed" ? report.lines : []))
          assert.deepEqual(
            remote,
            log.lines.map((line) => `wards/${line}`),
          )
          assert.deepEqual(
            remote.map((line) => Number(line.split("@")[1])),
            [...revisions, end],
          )
        })
      },
    ],
  ]
}

async function revisionsOf(one: OtherProcess): Promise<readonly Revision[]> {
  const report = await one.until(({ kind }) => kind === "done")
  return (report as Extract<Report, { kind: "done" }>).revisions
}

/** Ends all processes, whatever the outcome. */
async function withAll(processes: readonly OtherProcess[], task: () => Promise<void>): Promise<void> {
  try {
    await task()
  } finally {
    await Promise.all(processes.map((one) => one.kill()))
  }
}

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import type * as Troupe from "../../src/index.js"
import type * as Sqlite from "../../src/stores/sqlite/index.js"
import { Received } from "../../tools/received.js"
import { FileLock } from "./file-lock.js"
import { built } from "./node-process.js"
import { scratchFile } from "./scratch-file.js"

const { ActorSystem }: typeof Troupe = await import(pathToFileURL(join(built, "src/index.js")).href)
const { sqliteStore }: typeof Sqlite = await import(
  pathToFileURL(join(built, "src/stores/sqlite/index.js")).href
)

// The lock of an empty file keeps others from reading it, that of a store from writing to it. A thread that
// takes its time to start leaves the request to open the file unanswered.
test.each([
  ["an empty file", "open", /locked|unanswered/],
  ["a store", "join", /locked/],
] as const)(
  "a start waits for %s that another process has locked to %s, and then joins",
  async (what, asked, problem) => {
    const { file, lock } = await lockedFile(what)
    const { starting, log } = start(file)
    const isIt = ({ message, fields }: Line) => message === WAITS && fields["asked"] === asked
    const { fields } = await log.first(`it waits to ${asked}`, isIt)
    expect(fields).toMatchObject({
      problem: expect.stringMatching(problem),
      because: expect.stringContaining(file),
      leftMs: expect.any(Number),
    })
    await lock.letGo()
    const system = await starting
    expect(system.cluster.members).toHaveLength(1)
    expect(log.items.map(({ message }) => message)).toContain("the store answered, and the start goes on")
  },
)

test("a start whose file stays locked rejects, and says what it waited for", async () => {
  const { file } = await lockedFile()
  const { starting } = start(file, { joinMs: 1_500 })
  await expect(starting).rejects.toMatchObject({ code: "StoreUnavailable", problem: "locked" })
  await expect(starting).rejects.toThrow(
    /^the start waited for the store for 1500 ms \(\d+ attempts?, the last to join\): .* was locked by other processes for 800 ms; check .*; to wait longer set joinMs$/,
  )
})

test("a start that is aborted while it waits for a locked file leaves nothing behind", async () => {
  const { file, lock } = await lockedFile()
  const aborting = new AbortController()
  const { starting, log } = start(file, {}, aborting.signal)
  starting.catch(() => {})
  await log.first("it waits", ({ message }) => message === WAITS)
  aborting.abort(new Error("told to stop"))
  await expect(starting).rejects.toThrow("told to stop")
  await lock.letGo()
  const { starting: next } = start(file)
  expect((await next).cluster.members).toHaveLength(1)
})

test("a start does not wait for a file that is not a store", async () => {
  const file = scratchFile()
  writeFileSync(file, "this is a text, and not a database".repeat(100), { mode: 0o600 })
  const { starting, log } = start(file)
  await expect(starting).rejects.toMatchObject({ code: "StoreUnavailable", problem: "damaged" })
  expect(log.items).toEqual([])
})

const WAITS = "the start waits for the store"

interface Line {
  readonly message: string
  readonly fields: Troupe.LogFields
}

/** A file that another process has locked. */
async function lockedFile(
  what: "a store" | "an empty file" = "a store",
): Promise<{ readonly file: string; readonly lock: FileLock }> {
  const file = scratchFile()
  if (what === "a store") await (await start(file).starting).stop()
  return { file, lock: await FileLock.take(file) }
}

function start(file: string, settings: Partial<Troupe.ActorSystemSettings> = {}, signal?: AbortSignal) {
  const log = new Received<Line>()
  const logger: Troupe.Logger = {
    enabled: () => true,
    log: (level, message, fields = {}) => {
      if (level !== "debug") log.add({ message, fields })
    },
    with: () => logger,
  }
  const starting = ActorSystem.start(
    { namespace: "test", store: sqliteStore({ file, timeoutMs: 1_000 }), logger, ...settings },
    signal === undefined ? {} : { signal },
  )
  onTestFinished(async () => {
    await starting.then(
      (system) => system.stop(),
      () => {},
    )
  })
  return { starting, log }
}

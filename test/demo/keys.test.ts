import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { expect, it, onTestFinished, vi } from "vitest"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { Received } from "../../tools/received.js"

const built = await compiledOnce({
  name: "demo",
  config: "demo/tsconfig.json",
  sources: ["src", "demo", "tools"],
})
const urlOf = (file: string) => pathToFileURL(join(built, "demo", file)).href
const { Demo }: typeof import("../../demo/demo.js") = await import(urlOf("demo.js"))
const { LiveScreen }: typeof import("../../demo/live-screen.js") = await import(urlOf("live-screen.js"))

const PATIENCE_MS = 120_000

it("pauses, audits, kills and ends at the press of a key", { timeout: PATIENCE_MS }, async () => {
  const { screen, pictures, press, shows, isRaw } = terminal()
  const folder = temporaryFolder()
  vi.stubEnv("TMPDIR", folder.path)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    folder.remove()
  })
  const deathProof = true
  const store = { kind: "sqlite", file: folder.file("demo.db") } as const
  const options = {
    seconds: undefined,
    nodes: 2,
    accounts: 2,
    tellers: 1,
    seed: 1,
    store: store.kind,
    deathProof,
  }
  const demo = new Demo(options, { folder: folder.path, store, deathProof }, screen)
  onTestFinished(() => demo.stop())
  const run = demo.run(new AbortController().signal)
  run.then(
    ({ summary }) => pictures.end(new Error(`the demo has ended: ${summary}`)),
    (error) => pictures.end(error),
  )
  await shows(/ transfers +[1-9]/)
  expect(isRaw()).toBe(true)

  press("p")
  await shows(/ ‖ paused /)
  await shows(/ n\d runs again; /)
  press("a")
  await shows(/ audited: all 2 accounts are right/)
  press("k")
  await shows(/ n\d was killed: its actors start elsewhere/)
  // Waits until the killed node is back; Ctrl-C does not wait until the paused node's lease has expired.
  press("p")
  await shows(/ ‖ paused /)
  press("\x03")
  expect(await run).toMatchObject({ isRight: true })
  expect(isRaw()).toBe(false)
})

/** A terminal of 80 columns and 24 rows, and somebody in front of it. */
function terminal() {
  const pictures = new Received<string>()
  let seen = 0
  let isRaw = false
  let received = (_: Uint8Array) => {}
  const output = {
    isTTY: true,
    columns: 80,
    rows: 24,
    write: (text: string) => pictures.add(stripVTControlCharacters(text)),
  }
  const input = {
    isTTY: true,
    setRawMode: (wanted: boolean) => {
      isRaw = wanted
    },
    on: (_: "data", listener: typeof received) => {
      received = listener
    },
    off: () => {
      received = () => {}
    },
    resume: () => {},
    pause: () => {},
  }
  return {
    screen: new LiveScreen(output, input),
    pictures,
    press: (key: string) => {
      seen = pictures.items.length
      received(Buffer.from(key))
    },
    /** Resolves once a picture since the last key shows this. */
    shows: (text: RegExp) =>
      pictures.until(
        `the screen shows ${text}`,
        (all) => all.slice(seen).some((picture) => text.test(picture)),
        PATIENCE_MS / 2,
      ),
    isRaw: () => isRaw,
  }
}

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { expect, it, onTestFinished } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { programsOf } from "../../tools/engines/engines.js"
import { Received } from "../../tools/received.js"
import type { NodeOptions, SiteCommands } from "./programs/node.js"

const built = await compiledOnce({
  name: "client",
  config: "test/client/tsconfig.json",
  sources: ["src", "test/client", "tools"],
})

const POSTS = 300

await describeWith("chromium", "the client in a browser", () => {
  it("posts each line once and in order, past a killed node and a gateway that is started again", async () => {
    const folder = temporaryFolder()
    onTestFinished(() => folder.remove())
    const file = folder.file("store.db")
    const hosts = [nodeOf("host 1"), nodeOf("host 2")]
    await Promise.all(hosts.map((host) => host.start({ file } satisfies NodeOptions)))
    const web = nodeOf("gateway")
    const client = await bundled(folder.file("client.js"))
    await web.start({ file, client, port: 0 } satisfies NodeOptions)
    const port = await web.call("port")

    const posted = new Received<number>()
    const page = await openPage(`http://127.0.0.1:${port}/`, posted)
    const done = page.evaluate(postAll, POSTS)
    await posted.until("a third is posted", (all) => all.length >= POSTS / 3, PATIENCE_MS)
    const place = await web.call("place")
    const addresses = await Promise.all(hosts.map((host) => host.call("address")))
    const victim = hosts[addresses.indexOf(place ?? "")]
    await victim?.kill()
    await posted.until("two thirds are posted", (all) => all.length >= (POSTS * 2) / 3, PATIENCE_MS)
    await web.kill()
    await web.start({ file, client, port } satisfies NodeOptions)

    const { answers, lines, states } = await done
    expect(victim).toBeDefined()
    expect(lines).toEqual(Array.from({ length: POSTS }, (_, at) => at))
    expect(answers).toEqual(Array.from({ length: POSTS }, (_, at) => ["ada", true, at + 1]))
    expect(states).toEqual(expect.arrayContaining(["open", "waiting", "connecting", "open"]))
  })
})

const PATIENCE_MS = 60_000

/** Runs in the browser. */
async function postAll(posts: number) {
  const here = globalThis as unknown as PageGlobals
  const { connect } = (await here.load("/client.js")) as typeof import("../../src/client/index.js")
  const states: string[] = []
  const client = connect("/actors", { token: "token", onState: (state) => states.push(state) })
  const room = client.actor<import("./programs/node.js").Room>("Room", "lobby")
  const answers: unknown[] = []
  for (let line = 0; line < posts; line += 1) {
    const { who, at, lines } = await room.post(line)
    answers.push([who, at instanceof Date, lines])
    await here.report(line)
  }
  const lines = await room.lines()
  client.close()
  return { answers, lines, states }
}

interface PageGlobals {
  load(path: string): Promise<unknown>
  report(line: number): Promise<void>
}

async function openPage(url: string, posted: Received<number>): Promise<Page> {
  const { executable, puppeteer, libraryPath } = await programsOf("chromium")
  const { default: driver } = (await import(/* @vite-ignore */ puppeteer)) as { default: Driver }
  const browser = await driver.launch({
    executablePath: executable,
    headless: "shell",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    env: { ...process.env, ...(libraryPath === undefined ? {} : { LD_LIBRARY_PATH: libraryPath }) },
  })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.exposeFunction("report", (line: number) => posted.add(line))
  await page.goto(url)
  // A dynamic import of the page itself: the test runner would rewrite one in a function of this file.
  await page.evaluate("globalThis.load = (path) => import(path)")
  return page
}

/** What these tests use of puppeteer, which is fetched when they run. */
interface Driver {
  launch(options: object): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>
}

interface Page {
  goto(url: string): Promise<unknown>
  exposeFunction(name: string, run: (line: number) => void): Promise<void>
  evaluate<Args extends unknown[], Result>(
    run: ((...args: Args) => Result) | string,
    ...args: Args
  ): Promise<Awaited<Result>>
}

function nodeOf(name: string): NodeProcess<SiteCommands> {
  const node = new NodeProcess<SiteCommands>(name, { program: join(built, "test/client/programs/node.js") })
  onTestFinished(() => node.kill())
  return node
}

/** As a page would have it: one module, minified. */
async function bundled(file: string): Promise<string> {
  const bundle = await rolldown({ input: "src/client/index.ts", platform: "browser", logLevel: "silent" })
  const { output } = await bundle.generate({ minify: true, format: "esm" })
  await bundle.close()
  writeFileSync(file, output[0].code)
  return file
}

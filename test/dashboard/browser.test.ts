import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { projectFolder } from "../../tools/engines/cache-folder.js"
import { describeWith } from "../../tools/engines/engine-tests.js"
import { programsOf } from "../../tools/engines/engines.js"
import { type Browser, type BrowserPage, openBrowser } from "./browser.js"
import type { NodeCommands, NodeOptions } from "./programs/node.js"

const PAGES = ["overview", "nodes", "types", "actor", "trouble", "live", "live/calls"]
/** Pictures of all that these list would be large and take long. */
const LONG = ["trouble", "live", "live/calls"]
const WIDTHS = [1280, 390]
/** For people to look at; they are not committed. */
const screenshots = join(projectFolder, "build", "screenshots")

await describeWith("chromium", "the dashboard in a browser", () => {
  const folder = temporaryFolder()
  let browser: Browser | undefined
  let nodes: readonly NodeProcess<NodeCommands>[] = []
  let front: NodeProcess<NodeCommands>
  let page: BrowserPage
  /** What the page has logged as an error, or thrown. */
  const errors: string[] = []

  beforeAll(async () => {
    const built = await compiledOnce({
      name: "dashboard",
      config: "test/dashboard/tsconfig.json",
      sources: ["src", "test/dashboard", "tools"],
    })
    const program = join(built, "test/dashboard/programs/node.js")
    const store = { kind: "sqlite", file: folder.file("store.db") } as const
    nodes = ["n1", "n2"].map((name) => new NodeProcess<NodeCommands>(name, { program }))
    front = new NodeProcess<NodeCommands>("front", { program })
    await Promise.all(nodes.map((node) => node.start({ store } satisfies NodeOptions)))
    await front.start({ store, serves: { actions: true, showState: true } } satisfies NodeOptions)
    mkdirSync(screenshots, { recursive: true })
    browser = await openBrowser(await programsOf("chromium"))
    page = await browser.newPage()
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text())
    })
    page.on("pageerror", (error) => errors.push(String(error.stack)))
    await page.setViewport({ width: 1280, height: 860 })
    expect((await page.goto(await front.call("link")))?.status()).toBe(200)
    await shows("document.querySelectorAll('.node').length === 3")
  }, 240_000)

  afterAll(async () => {
    await browser?.close()
    await Promise.all([front, ...nodes].map((node) => node?.kill()))
    folder.remove()
  })

  const shows = (what: string, timeout = 30_000) => page.waitForFunction(what, { timeout, polling: 50 })
  const open = (path: string) => page.evaluate(`location.hash = "#/${path}"`)

  it("shows calls, actors and their nodes soon after it was opened", async () => {
    await shows("document.querySelectorAll('.map circle.actor').length > 12")
    await shows("document.querySelector('.verdict h1')?.textContent === 'All is well'")
    await shows("Number(document.querySelector('.tile b')?.textContent) > 1")
    await shows("document.querySelectorAll('.slowest .timeline li').length > 1")
    expect(await page.evaluate("location.search")).toBe("")
  })

  it.each(PAGES)("shows the page %s, wide and narrow, light and dark", async (path) => {
    if (path === "trouble") await front.call("makeTrouble")
    await open(path === "actor" ? "actor/Cart/customer-1" : path)
    await shows(CONTENT[path as keyof typeof CONTENT])
    for (const width of WIDTHS) {
      await page.setViewport({ width, height: 860 })
      for (const scheme of ["light", "dark"]) {
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
        const name = `${path.replace("/", "-")}-${width}-${scheme}.png`
        await page.evaluate("scrollTo(0, 0)")
        await page.screenshot({ path: join(screenshots, name), fullPage: !LONG.includes(path) })
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width)
    }
    await page.setViewport({ width: 1280, height: 860 })
    expect(errors).toEqual([])
  })

  it("can be used with the keyboard alone", async () => {
    await open("overview")
    const pages = ["Overview", "Nodes", "Types", "Actor", "Trouble", "Live"]
    for (const [at, title] of pages.entries()) {
      await page.keyboard.press(String(at + 1))
      await shows(`document.querySelector('nav a[aria-current]')?.textContent === '${title}'`)
    }
    await page.keyboard.press("4")
    await page.keyboard.press("/")
    await shows("document.activeElement?.getAttribute('aria-label') === 'Actor'")
    await page.keyboard.press("Escape")
    await page.keyboard.press("5")
    await shows("document.querySelectorAll('.troubles li').length > 0")
    await page.keyboard.press("j")
    await shows("document.activeElement?.closest('.troubles') !== null")
    await page.keyboard.press("?")
    await shows("document.querySelector('dialog')?.open === true")
    await page.keyboard.press("Escape")
    expect(errors).toEqual([])
  })

  it("tries an action before it does it", async () => {
    await open("actor/Cart/customer-2")
    await shows("document.querySelector('.actions')?.hidden === false")
    await page.type(".actions input[aria-label=Method]", "add")
    await page.type(".actions input[aria-label=Arguments]", '["a cap"]')
    await page.click(".actions form button")
    await shows(
      "document.querySelector('.outcome')?.textContent.includes('would call add of Cart/customer-2')",
    )
    expect(await page.evaluate("document.querySelector('.facts').textContent.includes('a cap')")).toBe(false)
    await page.click(".outcome .danger")
    await shows("document.querySelector('.outcome')?.textContent.includes('has answered')")
    await shows("document.querySelector('.facts').textContent.includes('a cap')")
    expect(errors).toEqual([])
  })

  it("shows within 2 seconds that a node was killed", async () => {
    await open("overview")
    await shows(
      "document.querySelector('.verdict') !== null && document.querySelector('.verdict.bad') === null",
    )
    const [killed] = nodes as readonly [NodeProcess<NodeCommands>]
    const address = await killed.call("address")
    const since = performance.now()
    await killed.kill()
    await shows(`document.querySelector('.verdict.bad')?.textContent.includes('${address} was lost')`, 10_000)
    const ms = performance.now() - since
    await page.evaluate("scrollTo(0, 0)")
    await page.screenshot({ path: join(screenshots, "killed-1280.png") })
    await shows(`document.querySelector('.node.lost h3')?.textContent === '${address}'`)
    expect(ms).toBeLessThan(2_000)
    expect(errors).toEqual([])
  })
})

/** What is there once a page has something to show. */
const CONTENT = {
  overview: "document.querySelectorAll('.chart path.line').length > 2",
  nodes: "document.querySelectorAll('tr.row').length === 3",
  types: "document.querySelectorAll('tr.row').length === 3",
  actor: "document.querySelector('.facts pre')?.textContent.includes('items') === true",
  trouble: "document.querySelectorAll('.troubles li').length > 0",
  live: "document.querySelectorAll('.events li').length > 0",
  "live/calls": "document.querySelectorAll('.calls details').length > 2",
} as const

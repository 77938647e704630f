import { pathToFileURL } from "node:url"
import type { BrowserPrograms } from "../../tools/engines/engines.js"

/** Starts a browser without a window. */
export async function openBrowser({ executable, puppeteer, libraryPath }: BrowserPrograms): Promise<Browser> {
  const library = (await import(pathToFileURL(puppeteer).href)) as { readonly default: PuppeteerLibrary }
  return library.default.launch({
    executablePath: executable,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    headless: "shell",
    ...(libraryPath === undefined ? {} : { env: { ...process.env, LD_LIBRARY_PATH: libraryPath } }),
  })
}

interface PuppeteerLibrary {
  launch(options: object): Promise<Browser>
}

/** What tests use of a browser of puppeteer, which has no types here, as it is no dependency. */
export interface Browser {
  newPage(): Promise<BrowserPage>
  close(): Promise<void>
}

export interface BrowserPage {
  goto(url: string): Promise<{ status(): number } | null>
  setViewport(size: { width: number; height: number; deviceScaleFactor?: number }): Promise<void>
  emulateMediaFeatures(features: readonly { name: string; value: string }[]): Promise<void>
  on(event: "console", listener: (message: { type(): string; text(): string }) => void): void
  on(event: "pageerror", listener: (error: Error) => void): void
  waitForFunction(script: string, options: { timeout: number; polling?: number }): Promise<unknown>
  evaluate(script: string): Promise<unknown>
  screenshot(options: { path: string; fullPage?: boolean }): Promise<unknown>
  click(selector: string): Promise<void>
  type(selector: string, text: string): Promise<void>
  readonly keyboard: { press(key: string): Promise<void> }
  close(): Promise<void>
}

import { relative } from "node:path"
import type { Reporter, TestCase, TestModule, TestSpecification } from "vitest/node"
import type { Screen } from "../tools/progress-line.js"

/**
 * Prints every few seconds how far a run is, where no summary is drawn in place: into a file, or in CI. In a terminal
 * the default reporter draws one, with the time that goes on.
 */
export default class Progress implements Reporter {
  readonly #screen: Screen
  readonly #running = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #files = 0
  #ended = 0
  #passed = 0
  #failed = 0

  constructor({
    write = (text: string) => process.stdout.write(text),
    isTTY = isTerminal(),
  }: Partial<Screen> = {}) {
    this.#screen = { write, isTTY }
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    if (this.#screen.isTTY) return
    this.#startedAt = performance.now()
    this.#files = specifications.length
    this.#timer = setInterval(() => this.#print(), BETWEEN_LINES_MS)
  }

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#running.set(moduleId, performance.now())
  }

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result()
    if (state === "passed") this.#passed += 1
    else if (state === "failed") this.#failed += 1
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#running.delete(moduleId)
    this.#ended += 1
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer)
  }

  #print(): void {
    const now = performance.now()
    const running = [...this.#running].map(
      ([file, since]) => `${relative(process.cwd(), file)} (${seconds(now - since)})`,
    )
    this.#screen.write(
      `${seconds(now - this.#startedAt)}: ${this.#ended} of ${this.#files} files, ` +
        `${this.#passed} tests passed, ${this.#failed} failed; running ${running.join(", ")}\n`,
    )
  }
}

const BETWEEN_LINES_MS = 10_000

/** As the default reporter judges it. */
function isTerminal(): boolean {
  return process.stdout.isTTY && !process.env["CI"]
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`
}

import { resolve } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import type { TestCase, TestModule, TestSpecification } from "vitest/node"
import Progress from "./progress.js"

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test("a line says every ten seconds how far the run is, until it is over", () => {
  const lines: string[] = []
  const progress = new Progress({ write: (line) => lines.push(line) })
  progress.onTestRunStart(new Array<TestSpecification>(3))
  progress.onTestModuleQueued(moduleAt("a.test.ts"))
  vi.advanceTimersByTime(4_000)
  progress.onTestCaseResult(ended("passed"))
  progress.onTestModuleEnd(moduleAt("a.test.ts"))
  progress.onTestModuleQueued(moduleAt("b.test.ts"))
  progress.onTestModuleQueued(moduleAt("src/c.test.ts"))
  progress.onTestCaseResult(ended("failed"))
  vi.advanceTimersByTime(10_000)
  progress.onTestCaseResult(ended("skipped"))
  progress.onTestModuleEnd(moduleAt("b.test.ts"))
  vi.advanceTimersByTime(6_000)
  progress.onTestRunEnd()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([
    "10 s: 1 of 3 files, 1 tests passed, 1 failed; running b.test.ts (6 s), src/c.test.ts (6 s)\n",
    "20 s: 2 of 3 files, 1 tests passed, 1 failed; running src/c.test.ts (16 s)\n",
  ])
})

test("nothing is printed in a terminal, where the default reporter draws", () => {
  const write = vi.fn()
  const progress = new Progress({ write, isTTY: true })
  progress.onTestRunStart([])
  vi.advanceTimersByTime(60_000)
  expect(write).not.toHaveBeenCalled()
  expect(vi.getTimerCount()).toBe(0)
})

function moduleAt(path: string): TestModule {
  return { moduleId: resolve(path) } as TestModule
}

function ended(state: string): TestCase {
  return { result: () => ({ state }) } as unknown as TestCase
}

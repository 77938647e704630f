import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, Vitest } from "vitest/node"

/**
 * Ends the output of `npm test` with one line that a script can read: `N passed, N failed`. A test that the sources
 * skip counts as failed. One that the command line leaves out, by `-t` or by a line number, counts as neither; nor does
 * one whose engine could not be had, which the lines before that name.
 */
export default class ClosingLine implements Reporter {
  #vitest: Vitest | undefined
  #specifications: readonly TestSpecification[] = []

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#specifications = specifications
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0
    let failed = unhandled.length
    const missing = new Map<string, string>()
    for (const module of modules) {
      const before = failed
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        const { missing: lacked } = test.meta()
        if (lacked !== undefined) missing.set(lacked.engine, lacked.reason)
        else if (state === "passed") passed += 1
        else if (state !== "skipped" || this.#isSelected(test)) failed += 1
      }
      if (module.state() === "failed" && failed === before) failed += 1
    }
    for (const [engine, reason] of missing) {
      process.stdout.write(`\nnot tested, since ${engine} could not be had: ${reason}\n`)
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  }

  #isSelected(test: TestCase): boolean {
    const pattern = this.#vitest?.getGlobalTestNamePattern()
    if (pattern !== undefined && !pattern.test(spacedName(test))) return false
    return !this.#specifications.some(
      ({ moduleId, testLines = [] }) => moduleId === test.module.moduleId && testLines.length > 0,
    )
  }
}

/** The names of the suites around a test and its own, as `-t` matches them. */
function spacedName({ name, parent }: TestCase): string {
  const names = [name]
  for (let suite = parent; suite.type === "suite"; suite = suite.parent) names.unshift(suite.name)
  return names.join(" ")
}

import type { Reporter, SerializedError, TestModule } from "vitest/node"

/** Ends the output of `npm test` with one line that a script can read: `N passed, N failed`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    let passed = 0
    let failed = unhandled.length
    for (const module of modules) {
      const before = failed
      for (const test of module.children.allTests()) {
        if (test.result().state === "passed") passed += 1
        else failed += 1
      }
      if (module.state() === "failed" && failed === before) failed += 1
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  }
}

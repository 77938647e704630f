import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Behavior } from "./behavior.js"
import { Behaviors } from "./behaviors.js"
import { checkSupervision, decide, type SupervisionOptions, type Supervisor } from "./supervision.js"

class NetworkDown extends Error {}

class CableCut extends NetworkDown {}

test("decides as the golden scenarios say", async () => {
  const scenarios = [
    scenario("no rule", [], [[0, new Error("e")]]),
    scenario("resume", [{ strategy: "resume" }], [[0, new Error("e")]]),
    scenario("stop", [{ strategy: "stop" }], [[0, new Error("e")]]),
    scenario("escalate", [{ strategy: "escalate" }], [[0, new Error("e")]]),
    scenario(
      "restart, without a delay or a limit",
      [{ strategy: "restart" }],
      [0, 0, 0, 1, 1_000].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "a rule for a class matches its subclasses, and nothing else",
      [{ strategy: "resume", on: NetworkDown }],
      [
        [0, new NetworkDown("e")],
        [1, new CableCut("e")],
        [2, new Error("e")],
        [3, "NetworkDown"],
        [4, undefined],
      ],
    ),
    scenario(
      "a rule for Error matches every error, and no other value",
      [{ strategy: "resume", on: Error }],
      [
        [0, new CableCut("e")],
        [1, "a string"],
      ],
    ),
    scenario(
      "a rule can be a predicate",
      [
        {
          strategy: "resume",
          on: function isString(error) {
            return typeof error === "string"
          },
        },
      ],
      [
        [0, "a string"],
        [1, new Error("e")],
      ],
    ),
    scenario(
      "the innermost rule that matches the error decides",
      [
        { strategy: "resume", on: CableCut },
        { strategy: "escalate", on: NetworkDown },
        { strategy: "restart" },
      ],
      [
        [0, new CableCut("e")],
        [1, new NetworkDown("e")],
        [2, new Error("e")],
      ],
    ),
    scenario(
      "an inner rule for all errors hides the outer ones",
      [{ strategy: "stop" }, { strategy: "restart" }],
      [[0, new Error("e")]],
    ),
    scenario(
      "each rule counts its own restarts",
      [
        { strategy: "restart", on: NetworkDown, limit: { restarts: 1, withinMs: 100 } },
        { strategy: "restart", limit: { restarts: 1, withinMs: 100 } },
      ],
      [
        [0, new NetworkDown("e")],
        [1, new Error("e")],
        [2, new NetworkDown("e")],
        [3, new Error("e")],
      ],
    ),
    scenario(
      "a limit of 0 stops at the first failure",
      [{ strategy: "restart", limit: { restarts: 0, withinMs: 100 } }],
      [[0, new Error("e")]],
    ),
    scenario(
      "one restart more within the time stops the actor",
      [{ strategy: "restart", limit: { restarts: 2, withinMs: 100 } }],
      [0, 50, 99].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "a restart no longer counts after the time of the limit",
      [{ strategy: "restart", limit: { restarts: 2, withinMs: 100 } }],
      [0, 50, 100, 150, 199].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "backoff doubles up to its cap",
      [{ strategy: "restart", backoff: { fromMs: 100, toMs: 1_000, jitter: 0 } }],
      [0, 100, 300, 700, 1_500, 2_500].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "backoff is reset after a run of more than twice its cap",
      [{ strategy: "restart", backoff: { fromMs: 100, toMs: 1_000, jitter: 0 } }],
      [0, 2_100, 4_301, 4_401, 6_601, 9_002].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "backoff is reset after resetAfterMs",
      [{ strategy: "restart", backoff: { fromMs: 100, toMs: 10_000, jitter: 0, resetAfterMs: 500 } }],
      [0, 600, 1_300, 2_201, 2_801].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "backoff counts restarts that are older than a short limit",
      [
        {
          strategy: "restart",
          limit: { restarts: 1, withinMs: 50 },
          backoff: { fromMs: 100, toMs: 1_000, jitter: 0 },
        },
      ],
      [0, 100, 300, 700].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "a reached limit stops a series of backoffs",
      [
        {
          strategy: "restart",
          limit: { restarts: 3, withinMs: 60_000 },
          backoff: { fromMs: 100, toMs: 1_000, jitter: 0 },
        },
      ],
      [0, 100, 300, 700].map((at) => [at, new Error("e")]),
    ),
    scenario(
      "the default jitter is a fifth; chance is a half here",
      [{ strategy: "restart", backoff: { fromMs: 100, toMs: 300 } }],
      [0, 100, 300].map((at) => [at, new Error("e")]),
    ),
  ]
  const golden = join(import.meta.dirname, "supervision.golden.txt")
  await expect(`${scenarios.join("\n\n")}\n`).toMatchFileSnapshot(golden)
})

test("a restart begins with the behavior of the rule that decided", () => {
  const inner = supervisor({ strategy: "restart", on: NetworkDown }, undefined)
  const outer = supervisor({ strategy: "restart" }, undefined)
  const rules = { ...inner, outer }
  expect(decide(rules, new NetworkDown(), 0, never)).toMatchObject({ kind: "restart", supervisor: rules })
  const decision = decide(rules, new Error(), 0, never)
  expect(decision.kind === "restart" && decision.supervisor).toBe(outer)
})

test("draws chance only for a delay", () => {
  for (const strategy of ["resume", "restart", "stop", "escalate"] as const) {
    decide(supervisor({ strategy }, undefined), new Error(), 0, never)
  }
  const exhausted = supervisor(
    { strategy: "restart", limit: { restarts: 0, withinMs: 1 }, backoff: { fromMs: 1, toMs: 1 } },
    undefined,
  )
  expect(decide(exhausted, new Error(), 0, never).kind).toBe("stop")
})

test("remembers only the last restart without a limit", () => {
  for (const backoff of [undefined, { fromMs: 1, toMs: 10 }]) {
    const rule = supervisor({ strategy: "restart", ...(backoff && { backoff }) }, undefined)
    for (let at = 0; at < 10_000; at += 1) decide(rule, new Error(), at, () => 0)
    expect(rule.restarts.length).toBeLessThanOrEqual(1)
  }
})

test("remembers no more restarts than the limit", () => {
  const rule = supervisor({ strategy: "restart", limit: { restarts: 3, withinMs: 10 } }, undefined)
  for (let at = 0; at < 10_000; at += 1) {
    decide(rule, new Error(), at, never)
    if (rule.restarts.length > 3) expect.fail(`${rule.restarts.length} restarts are remembered`)
  }
})

test("never restarts more often than the limit in any period", () => {
  const gaps = fc.array(fc.nat(60), { minLength: 1, maxLength: 60, size: "max" })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), gaps, (restarts, gaps) => {
      const rule = supervisor({ strategy: "restart", limit: { restarts, withinMs: 100 } }, undefined)
      const restarted: number[] = []
      let now = 0
      for (const gap of gaps) {
        now += gap
        const within = restarted.filter((at) => now - at < 100).length
        const { kind } = decide(rule, new Error(), now, never)
        expect(kind).toBe(within < restarts ? "restart" : "stop")
        if (kind === "restart") restarted.push(now)
      }
    }),
  )
})

test("the delay is between the doubled backoff and that plus its jitter, and at most the cap plus its jitter", () => {
  const chances = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
    maxLength: 2_000,
    size: "max",
  })
  const jitters = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(chances, jitters, fc.boolean(), (chances, jitter, limited) => {
      const rule = supervisor(
        {
          strategy: "restart",
          backoff: { fromMs: 10, toMs: 3_000, jitter, resetAfterMs: 10_000 },
          ...(limited && { limit: { restarts: 1_000_000, withinMs: 1 } }),
        },
        undefined,
      )
      let now = 0
      for (const [streak, chance] of chances.entries()) {
        const decision = decide(rule, new Error(), now, () => chance)
        const delayMs = decision.kind === "restart" ? decision.delayMs : Number.NaN
        const least = Math.min(3_000, 10 * 2 ** streak)
        if (!(delayMs >= least && delayMs <= least * (1 + jitter))) expect.fail(`it waits ${delayMs} ms`)
        now += delayMs
      }
    }),
    { numRuns: 50 },
  )
})

test.each<[string, Partial<SupervisionOptions>]>([
  ["strategy", { strategy: "ignore" as "stop" }],
  ["limit", { limit: { restarts: -1, withinMs: 1 } }],
  ["limit", { limit: { restarts: 1.5, withinMs: 1 } }],
  ["limit", { limit: { restarts: Number.POSITIVE_INFINITY, withinMs: 1 } }],
  ["limit", { limit: { restarts: 1, withinMs: 0 } }],
  ["limit", { limit: { restarts: 1, withinMs: Number.NaN } }],
  ["backoff", { backoff: { fromMs: 0, toMs: 1 } }],
  ["backoff", { backoff: { fromMs: 2, toMs: 1 } }],
  ["backoff", { backoff: { fromMs: 1, toMs: Number.NaN } }],
  ["backoff", { backoff: { fromMs: 1, toMs: Number.POSITIVE_INFINITY } }],
  ["backoff", { backoff: { fromMs: 1, toMs: 1, resetAfterMs: -1 } }],
  ["backoff", { backoff: { fromMs: 1, toMs: 1, jitter: -0.1 } }],
  ["backoff", { backoff: { fromMs: 1, toMs: 1, jitter: Number.NaN } }],
])("supervise refuses an invalid %s: %j", (field, options) => {
  const make = () => Behaviors.supervise(behavior, { strategy: "restart", ...options })
  expect(make).toThrow(RangeError)
  expect(make).toThrow(`supervision ${field} must `)
})

test("accepts the smallest valid limit and backoff", () => {
  const limit = { restarts: 0, withinMs: 0.1 }
  const backoff = { fromMs: 0.1, toMs: 0.1, jitter: 0 }
  expect(() => checkSupervision({ strategy: "restart", limit, backoff })).not.toThrow()
})

type Failure = readonly [at: number, error: unknown]

/** Formats the decision about each failure. The rules are listed from the innermost. */
function scenario(name: string, rules: readonly SupervisionOptions[], failures: readonly Failure[]): string {
  let innermost: Supervisor | undefined
  for (const options of rules.toReversed()) innermost = supervisor(options, innermost)
  const lines = failures.map(([at, error]) => {
    const decision = decide(innermost, error, at, () => 0.5)
    return `${String(at).padStart(6)}  ${nameOf(error).padEnd(12)} -> ${told(decision, innermost)}`
  })
  return [`# ${name}`, ...rules.map(written), ...lines].join("\n")
}

function told(decision: ReturnType<typeof decide>, innermost: Supervisor | undefined): string {
  switch (decision.kind) {
    case "restart": {
      let depth = 1
      for (let rule = innermost; rule !== decision.supervisor; rule = rule?.outer) depth += 1
      const by = innermost?.outer === undefined ? "" : `, by rule ${depth}`
      return `restart ${decision.delayMs === 0 ? "at once" : `in ${Math.round(decision.delayMs)} ms`}${by}`
    }
    case "stop":
      return `stop: ${decision.because}`
    default:
      return decision.kind
  }
}

function written({ strategy, on, limit, backoff }: SupervisionOptions): string {
  const words = [
    `  ${strategy}`,
    on && `on ${on.name}`,
    limit && `at most ${limit.restarts} within ${limit.withinMs} ms`,
    backoff && `backoff ${backoff.fromMs} to ${backoff.toMs} ms`,
    backoff?.resetAfterMs && `reset after ${backoff.resetAfterMs} ms`,
  ]
  return words.filter((word) => word !== undefined).join(", ")
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}

const behavior: Behavior<never> = Behaviors.receive(() => Behaviors.same)

function supervisor(options: SupervisionOptions, outer: Supervisor | undefined): Supervisor {
  checkSupervision(options)
  return { options, initial: behavior, outer, fromHandler: false, restarts: [], streak: 0, waitedMs: 0 }
}

function never(): never {
  expect.fail("chance was drawn")
}

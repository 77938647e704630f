import { expect, test } from "vitest"
import { jsonLine, type LogEntry, textLine } from "./log-line.js"
import { LogCopier } from "./log-value.js"

function entry(message: string, fields: Record<string, unknown> = {}): LogEntry {
  return { time: "T", level: "info", message, fields: new LogCopier().fields([fields]) }
}

const tricky = "a\nT ERROR forged\r\u0085\u2028\u2029\u0000\u001b[2K\u009b1A\u202e\u{e0001}\ud800 z"

test("nothing in a message, a name or a value can begin another line of text", () => {
  const line = textLine(entry(tricky, { [tricky]: tricky, nested: { [tricky]: [tricky] } }))
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  expect(line).toMatch(/^T INFO {2}a\\nT ERROR forged\\u000d\\u0085\\u2028/)
})

test("nothing in an error can begin a line of text at the margin", () => {
  const error = new Error(`boom\nT ERROR forged\n    at T ERROR\r\u001b[2K forged${tricky}`, {
    cause: tricky,
  })
  error.name = tricky
  const lines = textLine(entry("m", { error, code: Object.assign(new Error(), { code: tricky }) })).split(
    "\n",
  )
  expect(lines.length).toBeGreaterThan(3)
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}/)
  for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
})

test("JSON is one line, and gives everything back as it was", () => {
  const line = jsonLine(entry(tricky, { [tricky]: tricky }))
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  expect(JSON.parse(line)).toEqual({ time: "T", level: "info", message: tricky, [tricky]: tricky })
})

test("a field does not displace what the entry itself says", () => {
  const fields = { level: 9, message: "mine", time: 0, toString: "own" }
  expect(jsonLine(entry("theirs", fields))).toBe(
    '{"time":"T","level":"info","message":"theirs","fields.level":9,"fields.message":"mine","fields.time":0,"toString":"own"}',
  )
})

test("an error in text is a summary on the line, and its frames and causes below", () => {
  const cause = withStack(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }), [
    "inner (b.ts:2)",
  ])
  const error = withStack(new AggregateError([new RangeError("one"), "two"], "all failed", { cause }), [
    "outer (a.ts:1)",
  ])
  Object.assign(error, { delivery: "unknown" })
  for (const one of error.errors) if (one instanceof Error) withStack(one, [])
  expect(textLine(entry("m", { error, peer: "b" }))).toBe(
    [
      'T INFO  m error="AggregateError: all failed" peer=b',
      "    error:",
      "        with delivery=unknown",
      "        at outer (a.ts:1)",
      "        one of RangeError: one",
      "        one of two",
      "        caused by Error [ECONNREFUSED]: connect ECONNREFUSED",
      "            at inner (b.ts:2)",
    ].join("\n"),
  )
})

function withStack<E extends Error>(error: E, frames: readonly string[]): E {
  error.stack = [`${error.name}: ${error.message}`, ...frames.map((frame) => `    at ${frame}`)].join("\n")
  return error
}

import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { isOriginAllowed } from "./origins.js"

const named = new Set(["https://app.example"])

const refused: readonly (readonly [origin: string, host: string | null])[] = [
  ["https://evil.example", "example.com"],
  ["https://example.com.evil.example", "example.com"],
  ["https://evil-example.com", "example.com"],
  ["https://example.com:8443", "example.com"],
  ["https://app.example:8443", "example.com"],
  ["https://example.com@evil.example", "example.com"],
  ["https://evil.example/example.com", "example.com"],
  ["file://example.com", "example.com"],
  ["null", "null"],
  ["", ""],
  ["https://example.com", null],
]

test.each([
  [null, "example.com"],
  ["https://example.com", "example.com"],
  ["http://EXAMPLE.com", "example.COM"],
  ["http://localhost:3000", "localhost:3000"],
  ["https://[::1]:8080", "[::1]:8080"],
  ["https://app.example", "example.com"],
])("the origin %s may use the host %s", (origin, host) => {
  expect(isOriginAllowed(origin, host, named)).toBe(true)
})

test.each(refused)("the origin %s may not use the host %s", (origin, host) => {
  expect(isOriginAllowed(origin, host, named)).toBe(false)
})

test.each([
  { bug: "an origin is not checked", from: "return of !== undefined", to: "return true || of !== undefined" },
  {
    bug: "the end of a host is enough",
    from: "of.toLowerCase() === host.toLowerCase()",
    to: "of.endsWith(host)",
  },
  {
    bug: "the begin of a host is enough",
    from: "of.toLowerCase() === host.toLowerCase()",
    to: "of.startsWith(host)",
  },
])("the test above finds that $bug", async (change) => {
  const url = new URL("./origins.ts", import.meta.url)
  const planted = await importPlanted<{ isOriginAllowed: typeof isOriginAllowed }>(url, change)
  expect(refused.filter(([origin, host]) => planted.isOriginAllowed(origin, host, named))).not.toEqual([])
})

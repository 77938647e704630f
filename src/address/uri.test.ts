import fc from "fast-check"
import { expect, test } from "vitest"
import { hostileText } from "../../test/generate/names.js"
import { parseUri } from "./uri.js"
import { UriError } from "./uri-error.js"

test.each([
  ["http://a/b/c/d;p", { scheme: "http", path: "/b/c/d;p", query: undefined, fragment: undefined }],
  ["http://a/b/c/d;p?q=1&r=2#s", { path: "/b/c/d;p", query: "q=1&r=2", fragment: "s" }],
  ["HTTP://a", { scheme: "http", path: "" }],
  ["a+b-c.d://x/", { scheme: "a+b-c.d", path: "/" }],
  ["mailto:ada@example.com", { scheme: "mailto", authority: undefined, path: "ada@example.com" }],
  ["s://u:p@h:80/x", { authority: { userInfo: "u:p", host: "h", port: "80" } }],
  ["s://h:/x", { authority: { userInfo: undefined, host: "h", port: "" } }],
  ["s://@h/x", { authority: { userInfo: "", host: "h", port: undefined } }],
  ["s:///x", { authority: { userInfo: undefined, host: "", port: undefined }, path: "/x" }],
  ["s://[2001:DB8::0:1]:9", { authority: { userInfo: undefined, host: "[2001:db8::1]", port: "9" } }],
  ["s://h?q", { path: "", query: "q" }],
  ["s://h#f?g", { path: "", query: undefined, fragment: "f?g" }],
  ["s://h/%41%zz".replace("%zz", "%7a"), { path: "/%41%7a" }],
])("splits %s", (text, parts) => {
  expect(parseUri(text)).toMatchObject(parts)
})

test.each([
  ["", "scheme", 0],
  ["no-scheme", "scheme", 9],
  ["1a://x", "scheme", 0],
  ["a_b://x", "scheme", 1],
  ["s://h x/p", "host", 5],
  ["s://u@h@i/", "host", 7],
  ["s://u v@h/", "user info", 5],
  ["s://u%4@h/", "user info", 5],
  ["s://[::1]@h/", "user info", 4],
  ["s://u v/@", "host", 5],
  ["s://h:8x/", "port", 7],
  ["s://[::1/p", "host", 4],
  ["s://[::g]/p", "host", 5],
  ["s://h/a b", "path", 7],
  ["s://h/%4", "path", 6],
  ["s://h/p?a b", "query", 9],
  ["s://h/p#a#b", "fragment", 9],
  ["s://h/p\u00e9", "path", 7],
])("refuses %s because of its %s at %i", (text, part, position) => {
  const error = parseUri(text)
  expect(error).toBeInstanceOf(UriError)
  expect(error).toMatchObject({ part, position, code: "InvalidUri" })
})

test("drops no character: the joined parts are the original string", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const uri = parseUri(text)
      if (uri instanceof UriError) {
        expect(uri.position).toBeLessThanOrEqual(text.length)
        return
      }
      const { authority: at } = uri
      const authority =
        at === undefined
          ? ""
          : `//${at.userInfo === undefined ? "" : `${at.userInfo}@`}${at.host}${at.port === undefined ? "" : `:${at.port}`}`
      const query = uri.query === undefined ? "" : `?${uri.query}`
      const fragment = uri.fragment === undefined ? "" : `#${uri.fragment}`
      const whole = `${uri.scheme}:${authority}${uri.path}${query}${fragment}`
      if (!text.includes("[")) expect(whole.slice(uri.scheme.length)).toBe(text.slice(uri.scheme.length))
    }),
    { numRuns: 5_000 },
  )
})

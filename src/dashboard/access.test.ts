import { expect, test } from "vitest"
import { Access } from "./access.js"

const HOUR_MS = 3_600_000

test("a token is good for one visit, and its cookie for many", () => {
  const access = new Access()
  const token = access.newToken(0)
  const cookie = `${access.cookieName}=${access.exchange(token, 1)}`
  expect(access.exchange(token, 2)).toBeUndefined()
  expect([access.isIn(cookie, 3), access.isIn(`a=b; ${cookie}`, 4)]).toEqual([true, true])
})

test("nobody comes in without a cookie that was given", () => {
  const access = new Access()
  const value = access.exchange(access.newToken(0), 1) as string
  const refused = [
    null,
    "",
    value,
    `other=${value}`,
    `${access.cookieName}=`,
    `${access.cookieName}=${value}x`,
  ]
  expect(refused.map((cookie) => access.isIn(cookie, 2))).toEqual(refused.map(() => false))
  expect(new Access().isIn(`${access.cookieName}=${value}`, 2)).toBe(false)
  expect(["", "x", value].map((token) => access.exchange(token, 2))).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test("a cookie is good until it was not used for half a day, and a link for a day", () => {
  const access = new Access()
  const late = access.newToken(0)
  const cookie = `${access.cookieName}=${access.exchange(access.newToken(0), 0)}`
  expect([11, 22, 33].map((hours) => access.isIn(cookie, hours * HOUR_MS))).toEqual([true, true, true])
  expect(access.isIn(cookie, 46 * HOUR_MS)).toBe(false)
  expect(access.exchange(late, 25 * HOUR_MS)).toBeUndefined()
})

test("links that nobody opens do not take more and more memory", () => {
  const access = new Access()
  const [first, ...others] = Array.from({ length: 17 }, () => access.newToken(0))
  expect(access.exchange(first as string, 1)).toBeUndefined()
  expect(access.exchange(others[0] as string, 1)).toBeDefined()
})

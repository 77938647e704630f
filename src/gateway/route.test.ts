import { expect, test } from "vitest"
import { routeOf } from "./route.js"

test.each([
  ["/actors", { kind: "socket" }],
  ["/actors?token=x", { kind: "socket" }],
  ["/actors/Room/lobby/say", { kind: "call", type: "Room", key: "lobby", method: "say" }],
  ["/actors/Room/lobby/say?x=/a/b#c", { kind: "call", type: "Room", key: "lobby", method: "say" }],
  ["/actors/Room/a%2Fb%20%E2%82%AC/say", { kind: "call", type: "Room", key: "a/b €", method: "say" }],
  ["/actors/Room/../say", { kind: "call", type: "Room", key: "..", method: "say" }],
  ["/actors/Room/%252F/say", { kind: "call", type: "Room", key: "%2F", method: "say" }],
])("%s is a place", (url, route) => {
  expect(routeOf(url, "/actors")).toEqual(route)
})

test.each([
  ...["", "/", "*", "/actor", "/actorsx", "/actors/", "/actors/Room", "/actors/Room/x", "/actors/Room/x/"],
  ...[
    "/actors/Room/x/say/",
    "/actors/Room/x/say/y",
    "/actors//x/say",
    "/actors/Room//say",
    "//actors/Room/x/say",
  ],
  ...["/actors/Room/%/say", "/actors/Room/%ff/say", "/ACTORS/Room/x/say", "http://h/actors/Room/x/say"],
  `/actors/Room/${"x".repeat(5_000)}/say`,
])("%s is none", (url) => {
  expect(routeOf(url, "/actors")).toEqual({ kind: "nothing" })
})

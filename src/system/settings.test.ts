import { expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { type ActorSystemSettings, checkSettings } from "./settings.js"

test("requires only the namespace", () => {
  const { address, requestTimeoutMs, drainMs } = checkSettings({ namespace: "prod" })
  expect(address.toString()).toBe("troupe://prod")
  expect({ requestTimeoutMs, drainMs }).toEqual({ requestTimeoutMs: 30_000, drainMs: 10_000 })
})

test("applies the settings", () => {
  const { address, requestTimeoutMs, drainMs } = checkSettings({
    namespace: "prod.eu-1_a",
    systemName: "shop",
    scheme: "pekko",
    requestTimeoutMs: 0.5,
    drainMs: 1,
  })
  expect(address.toString()).toBe("pekko://shop")
  expect({ requestTimeoutMs, drainMs }).toEqual({ requestTimeoutMs: 0.5, drainMs: 1 })
})

test("treats undefined as the default", () => {
  const settings = { namespace: "prod", systemName: undefined, scheme: undefined, drainMs: undefined }
  const plain = (given: object) => {
    const { remote, ...checked } = checkSettings(given as ActorSystemSettings)
    return { ...checked, terms: remote.terms, keepAlive: remote.keepAlive, listen: remote.listen }
  }
  expect(plain({ ...settings, listen: undefined, deferred: undefined })).toEqual(plain({ namespace: "prod" }))
})

test.each([
  ["namespace", undefined],
  ["namespace", ""],
  ["namespace", "two words"],
  ["namespace", "a/b"],
  ["namespace", "prod\n"],
  ["namespace", "größe"],
  ["namespace", 7],
  ["systemName", ""],
  ["systemName", "a/b"],
  ["systemName", "s".repeat(256)],
  ["scheme", "troupe.tcp"],
  ["scheme", "Troupe"],
  ["scheme", "http"],
  ["requestTimeoutMs", 0],
  ["requestTimeoutMs", -1],
  ["requestTimeoutMs", Number.NaN],
  ["requestTimeoutMs", Number.POSITIVE_INFINITY],
  ["requestTimeoutMs", "1000"],
  ["requestTimeoutMs", null],
  ["drainMs", 0],
  ["drainMs", Number.POSITIVE_INFINITY],
  ["drainMs", "1s"],
])("the error names %s when it is %j", (field, value) => {
  const error = errorOf({ namespace: "prod", [field]: value })
  expect(error).toMatchObject({ code: "InvalidSetting", field })
  expect(error.message).toMatch(new RegExp(`^${field}(:| must) `))
})

test("names an unknown setting and lists the known ones", () => {
  const error = errorOf({ namespace: "prod", drainMS: 10 })
  expect(error.field).toBe("drainMS")
  expect(error.message).toMatch(
    /^drainMS: there is no such setting; known settings are namespace, .*listen, /,
  )
})

function errorOf(settings: object): SettingsError {
  try {
    checkSettings(settings as ActorSystemSettings)
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  expect.fail("the settings were accepted")
}

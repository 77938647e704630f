import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { type FakeRegistry, fakeRegistry } from "./fake-registry.js"
import { install } from "./installation.js"
import { nact } from "./peer.js"

describe("a peer that cannot be had", () => {
  let registry: FakeRegistry
  afterEach(() => registry.stop())

  it("is refused with what npm says", async () => {
    registry = await fakeRegistry("refuses")
    const { environment, temporary } = registry
    const installation = await install(nact, join(temporary, "nact"), { ...never, environment })
    expect(installation).toEqual({
      kind: "refused",
      because: expect.stringMatching(/^FetchError: .*\/nact failed.*ECONNREFUSED/),
    })
  })

  it("is not waited for when the registry is silent", async () => {
    registry = await fakeRegistry("silent")
    const { environment, temporary } = registry
    const options = { ...never, environment, timeoutMs: 1_500 }
    expect(await install(nact, join(temporary, "nact"), options)).toEqual({
      kind: "refused",
      because: "npm took longer than 1.5 s",
    })
  })

  it("is refused where there is no npm", async () => {
    registry = await fakeRegistry("refuses")
    const environment = { PATH: registry.temporary }
    const installation = await install(nact, join(registry.temporary, "nact"), { ...never, environment })
    expect(installation).toEqual({ kind: "refused", because: "spawn npm ENOENT" })
  })
})

const never = { signal: new AbortController().signal }

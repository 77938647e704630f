import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { type FakeRegistry, fakeRegistry } from "./fake-registry.js"
import { PeerFolder } from "./peer-folder.js"

let registry: FakeRegistry

beforeEach(async () => {
  registry = await fakeRegistry("refuses")
  vi.stubEnv("TMPDIR", registry.temporary)
  vi.stubEnv("NODE_DISABLE_COMPILE_CACHE", "1")
})

afterEach(() => {
  vi.unstubAllEnvs()
  registry.stop()
})

it("is there from the first peer on until it is removed", async () => {
  const peers = folder()
  expect(registry.left()).toEqual([])
  const peer = { name: "one", packages: ["one@1.0.0"] }
  const first = peers.install(peer)
  expect(registry.left()).toEqual([expect.stringContaining("troupe-peers-")])
  expect(peers.install(peer)).toBe(first)
  await first
  peers.remove()
  expect(registry.left()).toEqual([])
})

it("goes with the process", async () => {
  const before = process.listeners("exit")
  const peers = folder()
  await peers.install({ name: "one", packages: [] })
  const [atExit] = process.listeners("exit").filter((listener) => !before.includes(listener))
  expect(registry.left()).toHaveLength(1)
  atExit?.(0)
  expect(registry.left()).toEqual([])
  expect(process.listeners("exit")).toEqual(before)
})

function folder(): PeerFolder {
  return new PeerFolder({ signal: new AbortController().signal, environment: registry.environment })
}

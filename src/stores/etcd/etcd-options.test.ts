import { expect, it } from "vitest"
import { type EtcdStoreOptions, linkOptions } from "./etcd-options.js"

it("takes one endpoint or several, with and without a scheme", () => {
  const endpointsOf = (options: EtcdStoreOptions) => linkOptions(options).endpoints
  expect(endpointsOf({ endpoints: "10.0.0.1:2379" })).toEqual(["http://10.0.0.1:2379"])
  expect(endpointsOf({ endpoints: ["etcd-0:2379", "https://etcd-1:2379/"], tls: {} })).toEqual([
    "https://etcd-0:2379",
    "https://etcd-1:2379",
  ])
  expect(endpointsOf({ endpoints: "http://[::1]:2379" })).toEqual(["http://[::1]:2379"])
})

const REFUSED: readonly (readonly [EtcdStoreOptions, string])[] = [
  [{ endpoints: [] }, "at least one member"],
  [{ endpoints: "" }, "non-empty strings"],
  [{ endpoints: "ftp://10.0.0.1" }, "such as http://10.0.0.1:2379 (got ftp://10.0.0.1)"],
  [{ endpoints: "http://10.0.0.1:2379/v3" }, "such as http://10.0.0.1:2379"],
  [{ endpoints: "http://10.0.0.1:2379", tls: {} }, "must begin with https:// (got http://10.0.0.1:2379)"],
  [{ endpoints: "a", timeoutMs: 0 }, "timeoutMs must be at least 100 (got 0)"],
  [{ endpoints: "a", prefix: "my store/" }, "prefix must have"],
  [{ endpoints: "a", auth: { user: "", password: "a" } }, "auth must have a user"],
]

it.each(REFUSED)("refuses %j", (options, message) => {
  expect(() => linkOptions(options)).toThrow(message)
})

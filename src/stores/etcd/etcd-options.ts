import assert from "node:assert/strict"
import { assertKnown } from "../known-options.js"
import type { LinkOptions } from "./etcd-link.js"
import type { EtcdTlsOptions } from "./grpc-connection.js"

/** Options of `etcdStore`. */
export interface EtcdStoreOptions {
  /**
   * The addresses of the members, such as `http://10.0.0.1:2379`. Name all of them, so that the store can be
   * used while one is down. Without a scheme, `https` is used if `tls` is set, and `http` otherwise.
   */
  readonly endpoints: string | readonly string[]
  /** The user and the password, if etcd asks for them. Default none. */
  readonly auth?: { readonly user: string; readonly password: string } | undefined
  /** Certificates, if the endpoints begin with `https`. Default: those that Node trusts. */
  readonly tls?: EtcdTlsOptions | undefined
  /** How long a request waits for its answer before it is rejected. Default 5,000. */
  readonly timeoutMs?: number
  /** All keys of the store begin with it. Default `troupe/`. */
  readonly prefix?: string
}

/** Throws if an option is wrong. */
export function linkOptions(options: EtcdStoreOptions): LinkOptions {
  assertKnown(options, [
    "endpoints",
    "auth",
    "tls",
    "timeoutMs",
    "prefix",
  ] satisfies (keyof EtcdStoreOptions)[])
  const { endpoints, auth, tls, timeoutMs = 5_000, prefix = "troupe/" } = options
  const urls = [endpoints].flat().map((endpoint) => urlOf(endpoint, tls !== undefined))
  assert(urls.length > 0, "endpoints must name at least one member of the etcd cluster")
  assert(
    tls === undefined || urls.every((url) => url.startsWith("https:")),
    `tls is set, so endpoints must begin with https:// (got ${urls.join(", ")})`,
  )
  assert(
    Number.isFinite(timeoutMs) && timeoutMs >= MIN_TIMEOUT_MS,
    `timeoutMs must be at least ${MIN_TIMEOUT_MS} (got ${timeoutMs})`,
  )
  assert(
    /^[\x21-\x7e]{0,255}$/.test(prefix),
    "prefix must have at most 255 printable ASCII characters, and no spaces",
  )
  if (auth !== undefined) {
    assert(
      typeof auth.user === "string" && auth.user !== "" && typeof auth.password === "string",
      "auth must have a user, which is a non-empty string, and a password",
    )
  }
  return { endpoints: urls, auth, tls, timeoutMs, prefix }
}

function urlOf(endpoint: string, isSecure: boolean): string {
  assert(typeof endpoint === "string" && endpoint !== "", "endpoints must be non-empty strings")
  const text = endpoint.includes("://") ? endpoint : `${isSecure ? "https" : "http"}://${endpoint}`
  const isAddress = /^https?:\/\/[^/]+\/?$/.test(text) && URL.canParse(text)
  assert(isAddress, `endpoints must be addresses such as http://10.0.0.1:2379 (got ${endpoint})`)
  return new URL(text).origin
}

const MIN_TIMEOUT_MS = 100

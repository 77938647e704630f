import type { Digest } from "../../src/index.js"
import type { Workload } from "../../src/sim/index.js"
import { remotingWith } from "../remoting.js"
import type { Version } from "./version.js"

/**
 * A checksum that was made fast: the buggy version covers the first bytes of a batch, and trusts the rest.
 */
export function shortChecksum(version: Version): Workload {
  const digest = (inner: Digest): Digest => ({
    crc32: (bytes, start, end) =>
      inner.crc32(bytes, start, version === "buggy" ? Math.min(end, start + COVERED_BYTES) : end),
    hmacSha256: (key, message) => inner.hmacSha256(key, message),
    equal: (a, b) => inner.equal(a, b),
    stretch: (secret, salt) => inner.stretch(secret, salt),
  })
  return remotingWith({ digest }, `remoting-short-checksum-${version}`)
}

const COVERED_BYTES = 256

import { readFileSync } from "node:fs"
import { join } from "node:path"

function identity(name: string): { readonly cert: string; readonly key: string } {
  return { cert: pem(`${name}-cert`), key: pem(`${name}-key`) }
}

function pem(name: string): string {
  return readFileSync(join(import.meta.dirname, `${name}.pem`), "utf8")
}

/** The authority that has signed `node` and `expired`. */
export const ca = pem("ca-cert")
/** A certificate for localhost, troupe.test and names below it, 127.0.0.1, ::1, and 192.0.2.1 to 192.0.2.3. */
export const node = identity("node")
/** A certificate for the same names that expired in 2021. */
export const expired = identity("expired")
/** The authority that has signed `otherNode`. */
export const otherCa = pem("other-ca-cert")
/** A certificate for other.test. */
export const otherNode = identity("other-node")

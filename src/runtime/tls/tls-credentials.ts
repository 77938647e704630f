import { createPrivateKey, X509Certificate } from "node:crypto"
import type { SecureContextOptions } from "node:tls"
import type { TlsOptions } from "../../ports/network.js"

/**
 * Returns the PEM strings as Node options, after checking each. Node itself treats an empty `cert` as none
 * and an empty `ca` as that of the machine, and ignores a `ca` without a certificate.
 *
 * Both ends are nodes, and every supported version of Node has TLS 1.3, so no older version is allowed:
 * there one direction cannot be ended alone, and a client's certificate is sent unencrypted.
 *
 * Errors name the setting that is wrong and never quote it: errors are logged, and a key must not be.
 */
export function tlsCredentials({ cert, key, ca, mutual }: TlsOptions): SecureContextOptions {
  const own = read("`tls.cert` must be a certificate in PEM", () => new X509Certificate(cert))
  const secret = read("`tls.key` must be a private key in PEM without a passphrase", () =>
    createPrivateKey(key),
  )
  if (!own.checkPrivateKey(secret)) throw new Error("`tls.key` must be the key of `tls.cert`")
  if (ca !== undefined) read("`tls.ca` must be a certificate in PEM", () => new X509Certificate(ca))
  else if (mutual)
    throw new Error(
      "`tls.mutual` needs `tls.ca`; set it to the authority that signs the certificates of nodes",
    )
  return { cert, key, ...(ca === undefined ? {} : { ca }), minVersion: "TLSv1.3" }
}

function read<T>(complaint: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : ""
    throw new Error(complaint + code)
  }
}

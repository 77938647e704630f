import { createPrivateKey, X509Certificate } from "node:crypto"
import type { SecureContextOptions } from "node:tls"
import type { TlsOptions } from "../../ports/network.js"

/**
 * The PEM texts as Node takes them, once each was seen to be what it should be. Node itself takes an empty
 * `cert` for none and an empty `ca` for the machine's own, and passes over a `ca` in which it finds no
 * certificate.
 *
 * Both ends are nodes, and every Node speaks TLS 1.3, so nothing older is spoken: there one direction cannot
 * be ended alone, and a client's certificate crosses the wire in the clear.
 *
 * What is thrown says which text is wrong and never quotes it: errors are logged, and a key must not be.
 */
export function tlsCredentials({ cert, key, ca, mutual }: TlsOptions): SecureContextOptions {
  const own = read("`tls.cert` is not a certificate in PEM", () => new X509Certificate(cert))
  const secret = read("`tls.key` is not a private key in PEM, or needs a passphrase", () =>
    createPrivateKey(key),
  )
  if (!own.checkPrivateKey(secret)) throw new Error("`tls.key` is not the key of `tls.cert`")
  if (ca !== undefined) read("`tls.ca` is not a certificate in PEM", () => new X509Certificate(ca))
  else if (mutual) throw new Error("`tls.mutual` needs `tls.ca`, which says whose certificates are good")
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

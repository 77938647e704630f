import { isIP, type TcpNetConnectOpts } from "node:net"
import { checkServerIdentity, connect, type TLSSocket } from "node:tls"
import type { TlsOptions } from "../../ports/network.js"
import { tlsCredentials } from "./tls-credentials.js"

/**
 * Presents the certificate of this node on request, and only continues with a peer whose certificate is valid
 * and names the host.
 */
export function connectTls(to: TcpNetConnectOpts & { readonly host: string }, tls: TlsOptions): TLSSocket {
  const name = tls.serverName ?? to.host
  return connect({
    ...to,
    ...tlsCredentials(tls),
    rejectUnauthorized: true,
    // A server chooses its certificate by a host name, never by an address (RFC 6066). The certificate must
    // name either.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  })
}

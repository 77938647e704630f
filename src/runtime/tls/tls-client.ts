import { isIP, type TcpNetConnectOpts } from "node:net"
import { checkServerIdentity, connect, type TLSSocket } from "node:tls"
import type { TlsOptions } from "../../ports/network.js"
import { tlsCredentials } from "./tls-credentials.js"

/**
 * Shows its own certificate to whoever asks, and goes on only with a peer whose certificate is good and bears
 * the name.
 */
export function connectTls(to: TcpNetConnectOpts & { readonly host: string }, tls: TlsOptions): TLSSocket {
  const name = tls.serverName ?? to.host
  return connect({
    ...to,
    ...tlsCredentials(tls),
    rejectUnauthorized: true,
    // A server chooses its certificate by a name, never by an address (RFC 6066). The certificate must bear
    // either.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  })
}

import { canonicalHost, isPort } from "../address/host.js"
import { SettingsError } from "../errors/settings-error.js"
import type { CodecFactory } from "../ports/codec.js"
import type { TlsOptions } from "../ports/network.js"
import type { AssociationTerms } from "../remote/association-protocol.js"
import { LEAST_MESSAGE_BYTES, MOST_MESSAGE_BYTES } from "../remote/handshake.js"
import type { InboundTerms } from "../remote/inbound-budget.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { TypeRegistry, type WireType } from "../serialization/type-registry.js"
import { checkDuration, checkGroup, checkInteger, checkString, shown } from "./setting-checks.js"

/** The settings for communication with other nodes. */
export interface RemoteSettings<Types extends readonly WireType[] = readonly WireType[]> {
  /**
   * Where other nodes connect. Default: the system does not listen, and cannot communicate with other nodes.
   */
  readonly listen?: ListenSettings
  /**
   * The address that other nodes use, if it differs from the one listened on: behind a port mapping, or with
   * 0.0.0.0.
   */
  readonly advertise?: {
    /** The host that other nodes connect to. Default `listen.host`. */
    readonly host?: string
    /** The port that other nodes connect to. Default: the one that was bound. */
    readonly port?: number
  }
  /** The maximum size of a message, in bytes. Default 1 MiB. */
  readonly maxMessageBytes?: number
  /** The maximum number of messages that wait for nodes that are not connected. */
  readonly deferred?: {
    /** For one node. Default 1,024. */
    readonly perAuthority?: number
    /** For all nodes together. Default 8,192. */
    readonly total?: number
  }
  /**
   * The delay between attempts to connect, which grows with each attempt and has a random part. While
   * messages wait, it is at most 2,000 or `fromMs`, whichever is more.
   */
  readonly reconnect?: {
    /** The first delay. Default 1,000. */
    readonly fromMs?: number
    /** The longest delay. Default 30,000. */
    readonly toMs?: number
  }
  /** The buffer for a node that is connected and reads too slowly. */
  readonly outboundBuffer?: {
    /** Bytes per node. Default 16 MiB. */
    readonly bytes?: number
    /**
     * What happens to messages beyond the limit: `refuse` refuses the new one (default), `drop-oldest` drops
     * the oldest.
     */
    readonly overflow?: "refuse" | "drop-oldest"
  }
  /**
   * The messages from one node that wait for its actors. Beyond these limits less is read from that node, and
   * messages to the fullest mailboxes are refused.
   */
  readonly inboundBuffer?: {
    /** Messages per node. Default 16,384. */
    readonly messages?: number
    /**
     * The estimated memory of the messages per node, in bytes. Default 16 MiB; one actor can have half of it.
     */
    readonly bytes?: number
  }
  /**
   * How long an operator's quarantine of a node lasts. Default 5 days, minimum 1,000. The quarantine of a
   * node that violated the protocol lasts five minutes, or this long if it is less.
   */
  readonly quarantineMs?: number
  /** How the failure of a node, or of the network to it, is detected. */
  readonly keepAlive?: {
    /** The longest interval without sending anything. Default 2,000. */
    readonly intervalMs?: number
    /**
     * How long a connection may be silent before it is closed. Default 10,000, or three times `intervalMs` if
     * that is more.
     */
    readonly timeoutMs?: number
  }
  /** How long a node may be unreachable before its watched actors count as terminated. Default 10,000. */
  readonly unreachableAfterMs?: number
  /** The codec, which must be the same on all nodes. Default `binaryCodec()`. */
  readonly codec?: CodecFactory
  /** The classes whose instances may be sent. Default: none. */
  readonly types?: Types
}

/** Where a system listens, and how nodes authenticate. */
export interface ListenSettings {
  /** The address to bind: `127.0.0.1` for this machine only, `0.0.0.0` for all its addresses. */
  readonly host: string
  /** The port to bind; 0 lets the operating system choose. */
  readonly port: number
  /**
   * The secret that all nodes of the cluster share: at least 16 characters, 10 of them different; `openssl
   * rand -base64 32` makes one. Default: none, which is allowed on loopback only, unless TLS is mutual.
   * During a change of the secret, a list of the new one and the previous one.
   */
  readonly secret?: string | readonly [current: string, previous: string]
  /** Encrypts connections. Default: plain TCP. */
  readonly tls?: TlsOptions
}

export interface CheckedRemoteSettings {
  readonly listen: CheckedListen | undefined
  readonly advertise: { readonly host: string | undefined; readonly port: number | undefined }
  readonly maxMessageBytes: number
  readonly terms: AssociationTerms
  readonly inbound: InboundTerms
  readonly keepAlive: { readonly intervalMs: number; readonly timeoutMs: number }
  readonly codec: CodecFactory
  readonly types: TypeRegistry
}

export interface CheckedListen {
  readonly host: string
  readonly port: number
  /** None, the current secret, or the current and the previous one. */
  readonly secrets: readonly string[]
  readonly tls: TlsOptions | undefined
}

export const remoteFields: readonly (keyof RemoteSettings)[] = [
  "listen",
  "advertise",
  "maxMessageBytes",
  "deferred",
  "reconnect",
  "outboundBuffer",
  "inboundBuffer",
  "quarantineMs",
  "keepAlive",
  "unreachableAfterMs",
  "codec",
  "types",
]

export function checkRemoteSettings(
  settings: RemoteSettings,
  requestTimeoutMs: number,
): CheckedRemoteSettings {
  if (settings.codec !== undefined && typeof settings.codec !== "function") {
    throw new SettingsError(
      "codec",
      `must be a codec factory, such as binaryCodec() (got ${shown(settings.codec)})`,
    )
  }
  return {
    listen: checkListen(settings.listen),
    advertise: checkAdvertise(settings.advertise),
    maxMessageBytes: checkMessageBytes(settings.maxMessageBytes),
    terms: checkTerms(settings, requestTimeoutMs),
    inbound: checkInbound(settings.inboundBuffer),
    keepAlive: checkKeepAlive(settings.keepAlive),
    codec: settings.codec ?? binaryCodec(),
    types: new TypeRegistry(checkTypes(settings.types)),
  }
}

function checkTypes(types: RemoteSettings["types"] = []): readonly WireType[] {
  if (Array.isArray(types)) return types
  throw new SettingsError("types", `must be an array of classes (got ${shown(types)})`)
}

/** Says whether only this machine can connect to the host. */
export function isLoopback(given: string): boolean {
  const host = given.replace(/^\[(.*)\]$/, "$1")
  return (
    host === "localhost" || /^127(\.\d{1,3}){3}$/.test(host) || host === "::1" || host === "::ffff:127.0.0.1"
  )
}

/** Paths have IPv6 addresses in brackets; interfaces, and orchestrators, name them without. */
export function withBrackets(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host
}

/** Returns the error for a node that other machines can reach and that would accept any peer. */
export function missingSecret(host: string): SettingsError {
  return new SettingsError(
    "listen.secret",
    `must be set because other machines can reach ${host}; set a secret that all nodes share, or listen.tls with mutual: true`,
  )
}

function checkListen(listen: ListenSettings | undefined): CheckedListen | undefined {
  if (listen === undefined) return undefined
  checkGroup("listen", listen, ["host", "port", "secret", "tls"])
  const host = checkString("listen.host", listen.host)
  const { port } = listen
  if (!(port === 0 || isPort(port)))
    throw new SettingsError("listen.port", `must be a port, or 0 for any free one (got ${shown(port)})`)
  const secrets = checkSecrets(listen.secret)
  const tls = checkTls(listen.tls)
  if (!isLoopback(host) && secrets.length === 0 && tls?.mutual !== true) throw missingSecret(host)
  return { host, port, secrets, tls }
}

function checkSecrets(given: ListenSettings["secret"]): readonly string[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) return [checkSecret("listen.secret", given)]
  const [current, previous] = given as readonly unknown[]
  const secrets = [
    checkSecret("listen.secret[0]", current),
    checkSecret("listen.secret[1]", previous),
  ] as const
  if (given.length !== 2 || secrets[0] === secrets[1]) {
    throw new SettingsError(
      "listen.secret",
      "must be a string, or a list of two different secrets: [current, previous]",
    )
  }
  return secrets
}

/** The error must not help to guess the secret. */
function checkSecret(field: string, secret: unknown): string {
  if (typeof secret !== "string") throw new SettingsError(field, `must be a string; ${MAKE_SECRET}`)
  const different = new Set(secret).size
  if (secret.length >= LEAST_SECRET && different >= LEAST_DIFFERENT) return secret
  throw new SettingsError(
    field,
    `must have at least ${LEAST_SECRET} characters, ${LEAST_DIFFERENT} of them different (got ${secret.length}, ${different} different); ${MAKE_SECRET}`,
  )
}

const LEAST_SECRET = 16
const LEAST_DIFFERENT = 10
const MAKE_SECRET = 'make one with "openssl rand -base64 32"'

function checkTls(tls: TlsOptions | undefined): TlsOptions | undefined {
  if (tls === undefined) return undefined
  checkGroup("listen.tls", tls, ["cert", "key", "ca", "mutual", "serverName"])
  checkString("listen.tls.cert", tls.cert)
  checkString("listen.tls.key", tls.key)
  if (tls.ca !== undefined) checkString("listen.tls.ca", tls.ca)
  if (tls.mutual === true && tls.ca === undefined) {
    throw new SettingsError(
      "listen.tls.ca",
      "must be set for mutual TLS; set it to the authority that signs the certificates of the nodes",
    )
  }
  return tls
}

function checkAdvertise(advertise: RemoteSettings["advertise"]): CheckedRemoteSettings["advertise"] {
  const { host, port } = checkGroup("advertise", advertise, ["host", "port"])
  if (host !== undefined) {
    const checked = canonicalHost(withBrackets(checkString("advertise.host", host)))
    if ("problem" in checked) throw new SettingsError("advertise.host", checked.problem)
  }
  if (port !== undefined && !isPort(port))
    throw new SettingsError("advertise.port", `must be a port from 1 to 65535 (got ${shown(port)})`)
  return { host, port }
}

/** The minimum leaves room for errors. */
function checkMessageBytes(given: number | undefined): number {
  const bytes = checkInteger("maxMessageBytes", given, 1024 * 1024)
  if (bytes >= LEAST_MESSAGE_BYTES && bytes <= MOST_MESSAGE_BYTES) return bytes
  throw new SettingsError("maxMessageBytes", `must be from 4096 to 2^30 bytes (got ${bytes})`)
}

function checkTerms(settings: RemoteSettings, requestTimeoutMs: number): AssociationTerms {
  const { perAuthority, total } = checkGroup("deferred", settings.deferred, ["perAuthority", "total"])
  const { fromMs, toMs } = checkGroup("reconnect", settings.reconnect, ["fromMs", "toMs"])
  const { bytes, overflow = "refuse" } = checkGroup("outboundBuffer", settings.outboundBuffer, [
    "bytes",
    "overflow",
  ])
  if (overflow !== "refuse" && overflow !== "drop-oldest") {
    throw new SettingsError(
      "outboundBuffer.overflow",
      `must be "refuse" or "drop-oldest" (got ${shown(overflow)})`,
    )
  }
  const quarantineMs = checkDuration("quarantineMs", settings.quarantineMs, 5 * 24 * 3_600_000)
  if (quarantineMs < 1_000)
    throw new SettingsError("quarantineMs", `must be at least 1000 (got ${quarantineMs})`)
  const from = checkDuration("reconnect.fromMs", fromMs, 1_000)
  const to = checkDuration("reconnect.toMs", toMs, Math.max(from, 30_000))
  if (to < from) {
    throw new SettingsError(
      "reconnect.toMs",
      `must be at least reconnect.fromMs (got ${to}, fromMs is ${from})`,
    )
  }
  return {
    perAuthority: checkInteger("deferred.perAuthority", perAuthority, 1_024),
    total: checkInteger("deferred.total", total, 8_192),
    bytes: checkInteger("outboundBuffer.bytes", bytes, 16 * 1024 * 1024),
    overflow,
    deferMs: requestTimeoutMs,
    quarantineMs,
    fromMs: from,
    toMs: to,
    unreachableAfterMs: checkDuration("unreachableAfterMs", settings.unreachableAfterMs, 10_000),
  }
}

function checkInbound(inboundBuffer: RemoteSettings["inboundBuffer"]): InboundTerms {
  const { messages, bytes } = checkGroup("inboundBuffer", inboundBuffer, ["messages", "bytes"])
  return {
    messages: checkInteger("inboundBuffer.messages", messages, 16_384),
    bytes: checkInteger("inboundBuffer.bytes", bytes, 16 * 1024 * 1024),
  }
}

function checkKeepAlive(keepAlive: RemoteSettings["keepAlive"]): CheckedRemoteSettings["keepAlive"] {
  const given = checkGroup("keepAlive", keepAlive, ["intervalMs", "timeoutMs"])
  const intervalMs = checkDuration("keepAlive.intervalMs", given.intervalMs, 2_000)
  const timeoutMs = checkDuration("keepAlive.timeoutMs", given.timeoutMs, Math.max(10_000, 3 * intervalMs))
  if (timeoutMs < 2 * intervalMs) {
    throw new SettingsError(
      "keepAlive.timeoutMs",
      `must be at least twice keepAlive.intervalMs (got ${timeoutMs}, interval is ${intervalMs})`,
    )
  }
  return { intervalMs, timeoutMs }
}

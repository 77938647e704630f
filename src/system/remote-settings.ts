import { canonicalHost, isPort } from "../address/host.js"
import { SettingsError } from "../errors/settings-error.js"
import type { CodecFactory } from "../ports/codec.js"
import type { TlsOptions } from "../ports/network.js"
import type { AssociationTerms } from "../remote/association-protocol.js"
import { LEAST_MESSAGE_BYTES, MOST_MESSAGE_BYTES } from "../remote/handshake.js"
import type { InboundTerms } from "../remote/inbound-budget.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { TypeRegistry, type WireType } from "../serialization/type-registry.js"
import { duration, group, number, text, whole } from "./setting-checks.js"

/** What a system needs to know to talk to other nodes. */
export interface RemoteSettings {
  /** Where other nodes connect. A system that does not listen talks to no other node. */
  readonly listen?: ListenSettings
  /**
   * The address that other nodes use, where it is not the one listened on: behind a port mapping, or on
   * 0.0.0.0.
   */
  readonly advertise?: { readonly host?: string; readonly port?: number }
  /** The largest message, in bytes. 1 MiB unless set. */
  readonly maxMessageBytes?: number
  /** How many messages wait for nodes that are not connected. */
  readonly deferred?: {
    /** For one node. 1,024 unless set. */
    readonly perAuthority?: number
    /** For all together. 8,192 unless set. */
    readonly total?: number
  }
  /**
   * How long is waited between attempts to connect: longer from one to the next, and partly by chance. While
   * messages wait, 2,000 at most, or `fromMs` if that is more.
   */
  readonly reconnect?: {
    /** 1,000 unless set. */
    readonly fromMs?: number
    /** 30,000 unless set. */
    readonly toMs?: number
  }
  /** What waits for a node that is connected and reads too slowly. */
  readonly outboundBuffer?: {
    /** 16 MiB for each node unless set. */
    readonly bytes?: number
    /**
     * Which gives way: the new message, or the oldest that waits. `refuse` is the new one, and is the
     * default.
     */
    readonly overflow?: "refuse" | "drop-oldest"
  }
  /**
   * What came from one node and waits for its actors. Beyond it less is read from that node, and what would
   * wait longest is refused.
   */
  readonly inboundBuffer?: {
    /** 16,384 for each node unless set. */
    readonly messages?: number
    /**
     * As the messages are in memory, by estimate. 16 MiB for each node unless set; half of it for one actor.
     */
    readonly bytes?: number
  }
  /**
   * How long nothing is exchanged with a node that is shut out by hand. 5 days unless set; at least 1,000.
   * One that broke the protocol is shut out for five minutes, or for this if it is less.
   */
  readonly quarantineMs?: number
  /** How it is noticed that a node, or the network to it, has gone without a word. */
  readonly keepAlive?: {
    /** Something is sent at least this often. 2,000 unless set. */
    readonly intervalMs?: number
    /** A node of which nothing came for so long is given up. 10,000 unless set. */
    readonly timeoutMs?: number
  }
  /** How long a node is out of reach before its watched actors count as terminated. 10,000 unless set. */
  readonly unreachableAfterMs?: number
  /** `binaryCodec()` unless set. The same on all nodes. */
  readonly codec?: CodecFactory
  /** The classes whose instances may be sent. */
  readonly types?: readonly WireType[]
}

export interface ListenSettings {
  /** An address of this machine: `127.0.0.1` for this machine alone, `0.0.0.0` for all its addresses. */
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  /**
   * What all nodes of the cluster know and nobody else: at least 16 characters, 10 of them different, as
   * `openssl rand -base64 32` makes them. Needed beyond loopback, unless TLS is mutual. While it is being
   * changed, the new one and the one before it.
   */
  readonly secret?: string | readonly [current: string, previous: string]
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
  /** None, the current one, or that and the one before it. */
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
    throw new SettingsError("codec", "it is what binaryCodec or jsonCodec gives, or a function of that kind")
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
  throw new SettingsError("types", "it is an array of classes")
}

/** Whether only this machine can connect to it. */
export function isLoopback(given: string): boolean {
  const host = given.replace(/^\[(.*)\]$/, "$1")
  return (
    host === "localhost" || /^127(\.\d{1,3}){3}$/.test(host) || host === "::1" || host === "::ffff:127.0.0.1"
  )
}

/** What a node that others could reach, and that would believe anybody, is told. */
export function openToAnybody(host: string): SettingsError {
  return new SettingsError(
    "listen.secret",
    `${host} can be reached from other machines: set a secret that all nodes share, or listen.tls with mutual: true`,
  )
}

function checkListen(listen: ListenSettings | undefined): CheckedListen | undefined {
  if (listen === undefined) return undefined
  group("listen", listen, ["host", "port", "secret", "tls"])
  const host = text("listen.host", listen.host)
  const { port } = listen
  if (!(port === 0 || isPort(port)))
    throw new SettingsError("listen.port", "it is a port, or 0 for any that is free")
  const secrets = checkSecrets(listen.secret)
  const tls = checkTls(listen.tls)
  if (!isLoopback(host) && secrets.length === 0 && tls?.mutual !== true) throw openToAnybody(host)
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
    throw new SettingsError("listen.secret", "a list must have two different secrets, [current, previous]")
  }
  return secrets
}

/** What it says of a secret must not help to guess it. */
function checkSecret(field: string, secret: unknown): string {
  if (typeof secret !== "string") throw new SettingsError(field, `it must be a string; ${MAKE_SECRET}`)
  const different = new Set(secret).size
  if (secret.length >= LEAST_SECRET && different >= LEAST_DIFFERENT) return secret
  throw new SettingsError(
    field,
    `it must have at least ${LEAST_SECRET} characters, ${LEAST_DIFFERENT} of them different (got ${secret.length}, ${different} different); ${MAKE_SECRET}`,
  )
}

const LEAST_SECRET = 16
const LEAST_DIFFERENT = 10
const MAKE_SECRET = 'make one with "openssl rand -base64 32"'

function checkTls(tls: TlsOptions | undefined): TlsOptions | undefined {
  if (tls === undefined) return undefined
  group("listen.tls", tls, ["cert", "key", "ca", "mutual", "serverName"])
  text("listen.tls.cert", tls.cert)
  text("listen.tls.key", tls.key)
  if (tls.ca !== undefined) text("listen.tls.ca", tls.ca)
  if (tls.mutual === true && tls.ca === undefined) {
    throw new SettingsError(
      "listen.tls.ca",
      "mutual TLS needs the authority that signs the nodes' certificates",
    )
  }
  return tls
}

function checkAdvertise(advertise: RemoteSettings["advertise"]): CheckedRemoteSettings["advertise"] {
  const { host, port } = group("advertise", advertise, ["host", "port"])
  if (host !== undefined) {
    const checked = canonicalHost(text("advertise.host", host))
    if ("problem" in checked) throw new SettingsError("advertise.host", checked.problem)
  }
  if (port !== undefined && !isPort(port))
    throw new SettingsError("advertise.port", "it is a port from 1 to 65535")
  return { host, port }
}

/** Errors have to fit as well. */
function checkMessageBytes(given: number | undefined): number {
  const bytes = whole("maxMessageBytes", given, 1024 * 1024)
  if (bytes >= LEAST_MESSAGE_BYTES && bytes <= MOST_MESSAGE_BYTES) return bytes
  throw new SettingsError("maxMessageBytes", "it is a number of bytes from 4,096 to 2^30")
}

function checkTerms(settings: RemoteSettings, requestTimeoutMs: number): AssociationTerms {
  const { perAuthority, total } = group("deferred", settings.deferred, ["perAuthority", "total"])
  const { fromMs, toMs } = group("reconnect", settings.reconnect, ["fromMs", "toMs"])
  const { bytes, overflow = "refuse" } = group("outboundBuffer", settings.outboundBuffer, [
    "bytes",
    "overflow",
  ])
  if (overflow !== "refuse" && overflow !== "drop-oldest") {
    throw new SettingsError("outboundBuffer.overflow", "it is refuse or drop-oldest")
  }
  const quarantineMs = duration("quarantineMs", settings.quarantineMs, 5 * 24 * 3_600_000)
  if (quarantineMs < 1_000) throw new SettingsError("quarantineMs", "it is 1,000 or more")
  const from = duration("reconnect.fromMs", fromMs, 1_000)
  const to = duration("reconnect.toMs", toMs, Math.max(from, 30_000))
  if (to < from) throw new SettingsError("reconnect.toMs", "it is not less than reconnect.fromMs")
  return {
    perAuthority: whole("deferred.perAuthority", perAuthority, 1_024),
    total: whole("deferred.total", total, 8_192),
    bytes: whole("outboundBuffer.bytes", bytes, 16 * 1024 * 1024),
    overflow,
    deferMs: requestTimeoutMs,
    quarantineMs,
    fromMs: from,
    toMs: to,
    unreachableAfterMs: duration("unreachableAfterMs", settings.unreachableAfterMs, 10_000),
  }
}

function checkInbound(inboundBuffer: RemoteSettings["inboundBuffer"]): InboundTerms {
  const { messages, bytes } = group("inboundBuffer", inboundBuffer, ["messages", "bytes"])
  return {
    messages: whole("inboundBuffer.messages", messages, 16_384),
    bytes: whole("inboundBuffer.bytes", bytes, 16 * 1024 * 1024),
  }
}

function checkKeepAlive(keepAlive: RemoteSettings["keepAlive"]): CheckedRemoteSettings["keepAlive"] {
  const given = group("keepAlive", keepAlive, ["intervalMs", "timeoutMs"])
  const intervalMs = duration("keepAlive.intervalMs", given.intervalMs, 2_000)
  const timeoutMs = number(
    "keepAlive.timeoutMs",
    given.timeoutMs,
    Math.max(10_000, 3 * intervalMs),
    "a number of milliseconds above 0",
  )
  if (timeoutMs < 2 * intervalMs) {
    throw new SettingsError("keepAlive.timeoutMs", "it is at least twice keepAlive.intervalMs")
  }
  return { intervalMs, timeoutMs }
}

import { SettingsError } from "../errors/settings-error.js"
import { checkGroup, checkInteger, shown } from "../system/setting-checks.js"
import type { Principal } from "../virtual/principal.js"
import type { ExposedCall, ExposedTypes } from "./exposure.js"

/** The options of `gateway`. */
export interface GatewayOptions<P extends Principal = Principal> {
  /**
   * Says who makes a request, or opens a socket: returns plain data with an `id` that is the same for all
   * requests of one caller, or undefined to refuse. What it throws is logged, and refuses. `"anyone"` lets
   * everybody in, without knowing who it is.
   */
  readonly authenticate: "anyone" | ((request: GatewayRequest) => Given<P> | Promise<Given<P>>)
  /** What can be called, by the names of types and methods. */
  readonly expose: ExposedTypes<P>
  /** Whether a principal may make a call, besides what `expose` says. Default: every exposed one. */
  readonly authorize?: (principal: P, call: ExposedCall) => boolean | Promise<boolean>
  /** The path of the gateway, with a leading slash and no trailing one. Default `/actors`. */
  readonly path?: string
  /**
   * The origins whose pages may use the gateway, such as `https://app.example.com`, besides that of the
   * gateway's own host. Default none.
   */
  readonly origins?: readonly string[]
  /** Whether pages of `origins` may make HTTP calls, by CORS. Sockets need no CORS. Default false. */
  readonly cors?: boolean
  /** Whether the messages of all errors are sent to callers: for development. Default false. */
  readonly showErrors?: boolean
  /** What callers can make the gateway hold. */
  readonly limits?: Partial<GatewayLimits>
}

type Given<P> = P | undefined | null

/** What `authenticate` gets to know of a request. */
export interface GatewayRequest {
  /**
   * The headers. For a socket they are those of its upgrade, and `authorization` is `Bearer` and the token
   * of the client, if it has one: browsers cannot set headers of sockets.
   */
  readonly headers: {
    /** Returns the value of a header, or null. Upper and lower case are the same. */
    get(name: string): string | null
  }
  /** The path and the query. */
  readonly url: string
  /** The address of the peer, which may be a proxy; undefined where it is not known. */
  readonly remoteAddress: string | undefined
  /** Whether a socket is opened. */
  readonly isSocket: boolean
}

/** What callers can make a gateway hold. */
export interface GatewayLimits {
  /** The bytes of a body, and of a frame of a socket. Default 1 MiB. */
  readonly bodyBytes: number
  /** The calls in flight. Default 10,000. */
  readonly calls: number
  /** The calls in flight of one principal. Default 1,000. */
  readonly callsOfPrincipal: number
  /** The calls in flight of one socket. The client sends no more at a time. Default 100. */
  readonly callsOfSocket: number
  /** The open sockets. Default 50,000. */
  readonly sockets: number
  /** The open sockets of one principal. Default 100. */
  readonly socketsOfPrincipal: number
  /** The sockets that have not said who they are. Default 1,000. */
  readonly strangers: number
  /** The bytes that wait for a socket that does not read them. Default 256 KiB. */
  readonly sendBytes: number
}

export interface CheckedOptions<P extends Principal> {
  readonly authenticate: GatewayOptions<P>["authenticate"]
  readonly expose: ExposedTypes<P>
  readonly authorize: GatewayOptions<P>["authorize"]
  readonly path: string
  readonly origins: ReadonlySet<string>
  readonly cors: boolean
  readonly showErrors: boolean
  readonly limits: GatewayLimits
}

/** Throws a `SettingsError` that names the field. */
export function checkOptions<P extends Principal>(options: GatewayOptions<P>): CheckedOptions<P> {
  checkGroup("gateway", options, FIELDS)
  const { authenticate, authorize, expose, path = "/actors", origins = [] } = options
  if (authenticate !== "anyone" && typeof authenticate !== "function") {
    throw new SettingsError("authenticate", `must be a function, or "anyone" (got ${shown(authenticate)})`)
  }
  if (authorize !== undefined && typeof authorize !== "function") {
    throw new SettingsError("authorize", `must be a function (got ${shown(authorize)})`)
  }
  if (typeof path !== "string" || !/^(\/[\w.~-]+)+$/.test(path)) {
    throw new SettingsError("path", `must be a path such as /actors (got ${shown(path)})`)
  }
  return {
    authenticate,
    authorize,
    expose,
    path,
    origins: new Set(checkOrigins(origins)),
    cors: checkFlag("cors", options.cors),
    showErrors: checkFlag("showErrors", options.showErrors),
    limits: checkLimits(options.limits),
  }
}

const FIELDS: readonly (keyof GatewayOptions)[] = [
  "authenticate",
  "expose",
  "authorize",
  "path",
  "origins",
  "cors",
  "showErrors",
  "limits",
]

const DEFAULTS: GatewayLimits = {
  bodyBytes: 1_048_576,
  calls: 10_000,
  callsOfPrincipal: 1_000,
  callsOfSocket: 100,
  sockets: 50_000,
  socketsOfPrincipal: 100,
  strangers: 1_000,
  sendBytes: 262_144,
}

function checkLimits(limits: GatewayOptions["limits"]): GatewayLimits {
  const names = Object.keys(DEFAULTS) as (keyof GatewayLimits)[]
  const given = checkGroup<Partial<GatewayLimits>>("limits", limits, names)
  const checked = names.map((name) => [name, checkInteger(`limits.${name}`, given[name], DEFAULTS[name])])
  return Object.fromEntries(checked) as GatewayLimits
}

function checkOrigins(origins: unknown): readonly string[] {
  if (!Array.isArray(origins)) throw new SettingsError("origins", `must be an array (got ${shown(origins)})`)
  for (const [index, origin] of origins.entries()) {
    if (typeof origin === "string" && (origin === "null" || /^\w[\w+.-]*:\/\/[^/?#@\s]+$/.test(origin)))
      continue
    const rule = "must be an origin such as https://app.example.com, without a path"
    throw new SettingsError(`origins[${index}]`, `${rule} (got ${shown(origin)})`)
  }
  return origins as readonly string[]
}

function checkFlag(field: string, value: unknown): boolean {
  if (value === undefined || typeof value === "boolean") return value ?? false
  throw new SettingsError(field, `must be true or false (got ${shown(value)})`)
}

import { ActorPathError } from "./actor-path-error.js"
import { Address, isScheme } from "./address.js"
import { isIn, SEGMENT } from "./character-class.js"
import { parsePort } from "./host.js"
import { canonicalSegment, type SegmentRules } from "./segment.js"
import { parseUri, splitUri, type UriAuthority } from "./uri.js"
import { UriError } from "./uri-error.js"

/**
 * The second layer of parsing: the rules of actor paths beyond those of URIs.
 *
 * A path is kept as its canonical string, not as a list of names: most paths are written canonically already,
 * so that checking them is all the work there is, and equality, look-up and the wire need the string anyway.
 *
 * Every input gives parts or an `ActorPathError`, in time linear in its length.
 */
interface PathParts {
  readonly address: Address
  /** `/guardian/segment/...` */
  readonly path: string
  readonly uid: number | undefined
}

export function parsePath(text: string, rules: SegmentRules): PathParts | ActorPathError {
  const known = parseKnown(text, rules)
  if (known !== undefined) return known
  const parts = parseInFull(text, rules)
  if (!(parts instanceof ActorPathError)) remember(text, parts.address)
  return parts
}

function parseInFull(text: string, rules: SegmentRules): PathParts | ActorPathError {
  const uri = parseUri(text)
  if (uri instanceof UriError) return explain(text, uri, rules)
  const address = readAddress(uri.scheme, uri.authority)
  if (address instanceof ActorPathError) return address
  const path = uri.path === "" || uri.path === "/" ? "/user" : canonicalPath(uri.path, rules)
  if (path instanceof ActorPathError) return path
  if (uri.query !== undefined) return new ActorPathError("InvalidUri", "an actor path must not have a query")
  const uid = uri.fragment === undefined ? undefined : readUid(uri.fragment)
  if (uid instanceof ActorPathError) return uid
  return { address, path, uid }
}

/**
 * The fast path: nearly all paths begin with an address that was parsed before. The rules for the rest are
 * stricter than those of a URI, so the URI layer can be skipped. Returns undefined if this does not apply, or
 * if there is an error that the full parser has to explain.
 */
function parseKnown(text: string, rules: SegmentRules): PathParts | undefined {
  const pathAt = text.indexOf("/", text.indexOf("://") + 3)
  const address = pathAt < 0 ? undefined : knownAddresses.get(text.slice(0, pathAt))
  if (address === undefined) return undefined
  const hash = text.indexOf("#", pathAt)
  const path = canonicalPath(hash < 0 ? text.slice(pathAt) : text.slice(pathAt, hash), rules)
  if (path instanceof ActorPathError) return undefined
  if (hash < 0) return { address, path, uid: undefined }
  const uid = readUid(text.slice(hash + 1))
  return uid instanceof ActorPathError ? undefined : { address, path, uid }
}

function remember(text: string, address: Address): void {
  if (text.length > LONGEST_REMEMBERED) return
  const pathAt = text.indexOf("/", text.indexOf("://") + 3)
  if (pathAt < 0) return
  if (knownAddresses.size >= MOST_KNOWN_ADDRESSES) knownAddresses.clear()
  knownAddresses.set(text.slice(0, pathAt), address)
}

const knownAddresses = new Map<string, Address>()
const MOST_KNOWN_ADDRESSES = 1_024
/** A slice keeps the whole string in memory, so slices of long strings are not cached. */
const LONGEST_REMEMBERED = 512

/** Returns the canonical form of `/segment/...`, with its guardian. */
function canonicalPath(path: string, rules: SegmentRules): string | ActorPathError {
  return isCanonical(path, rules) ? path : respellPath(path, rules)
}

/** The fast check that most paths pass: nothing to decode, nothing to add, nothing invalid. */
function isCanonical(path: string, rules: SegmentRules): boolean {
  if (!/^\/(user|system)(\/|$)/.test(path)) return false
  let segmentAt = 1
  for (let at = 1; at <= path.length; at += 1) {
    const code = at === path.length ? SLASH : path.charCodeAt(at)
    if (code !== SLASH) {
      if (!isIn(SEGMENT, code)) return false
      continue
    }
    const first = path.charCodeAt(segmentAt)
    if (at === segmentAt || (first === DOLLAR && !rules.runtimeNames)) return false
    if (first === DOT && at - segmentAt <= 2 && path.charCodeAt(at - 1) === DOT) return false
    segmentAt = at + 1
  }
  return true
}

function respellPath(path: string, rules: SegmentRules): string | ActorPathError {
  let canonical = ""
  let index = 1
  for (let from = 1; from <= path.length; ) {
    const slash = path.indexOf("/", from)
    const to = slash < 0 ? path.length : slash
    const segment = canonicalSegment(path, from, to, index, rules)
    if (segment instanceof ActorPathError) return segment
    if (from > 1) index += 1
    else if (segment !== "user" && segment !== "system") {
      canonical = "/user"
      index = 2
    }
    canonical += `/${segment}`
    from = to + 1
  }
  return canonical
}

/** Parses a uid: a positive integer without leading zeros. */
export function readUid(text: string): number | ActorPathError {
  const uid = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
  return isUid(uid) ? uid : new ActorPathError("InvalidUid", "the uid after # must be a positive integer")
}

export function isUid(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0
}

function readAddress(scheme: string, authority: UriAuthority | undefined): Address | ActorPathError {
  const { userInfo, host = "", port: digits } = authority ?? {}
  if (userInfo === undefined) {
    if (digits === undefined) return Address.of({ scheme, system: host })
    return new ActorPathError("InvalidAuthority", "a port needs a host; write system@host:port")
  }
  const port = digits === undefined ? undefined : parsePort(digits)
  if (digits !== undefined && port === undefined) {
    return new ActorPathError("InvalidAuthority", "the port must be a number from 1 to 65535")
  }
  return Address.of({ scheme, system: userInfo, host, port })
}

/** Explains in terms of actor paths why a string is not a URI. */
function explain(text: string, cause: UriError, rules: SegmentRules): ActorPathError {
  const split = splitUri(text)
  if (split instanceof UriError) return new ActorPathError("InvalidUri", cause.message, undefined, { cause })
  if (!isScheme(split.scheme) || split.authorityAt < 0)
    return readAddress(split.scheme, undefined) as ActorPathError
  switch (cause.part) {
    case "user info":
      return new ActorPathError("InvalidSystem", cause.message, undefined, { cause })
    case "host":
    case "port": {
      const hasHost = text.slice(split.authorityAt, split.pathAt).includes("@") || cause.part === "port"
      return new ActorPathError(hasHost ? "InvalidAuthority" : "InvalidSystem", cause.message, undefined, {
        cause,
      })
    }
    case "path": {
      const path = canonicalPath(text.slice(split.pathAt, split.queryAt), rules)
      if (path instanceof ActorPathError) return path
      throw new Error(`the invalid URI path ${path} was accepted as canonical`)
    }
    case "fragment":
      return new ActorPathError("InvalidUid", cause.message, undefined, { cause })
    default:
      return new ActorPathError("InvalidUri", cause.message, undefined, { cause })
  }
}

const DOLLAR = 36
const DOT = 46
const SLASH = 47

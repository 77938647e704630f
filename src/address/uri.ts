import { HOST, isIn, SCHEME, skip, URI_PATH, URI_TAIL, USER_INFO } from "./character-class.js"
import { canonicalIpv6 } from "./ipv6.js"
import { shownCharacter } from "./quote.js"
import { UriError, type UriPart } from "./uri-error.js"

/**
 * An absolute URI by RFC 2396, with IPv6 literals in brackets (RFC 2732), split into its parts.
 *
 * This layer knows URIs and nothing of actors: `actor-path-parser` adds the rules of actor paths. Every
 * character is accounted for: it is in a part, or it is refused with its position. Escapes are checked and
 * left as they are. The parser is a single pass over the string; regular expressions with nested repetition
 * would be shorter, and quadratic on hostile input.
 */
interface Uri {
  /** In lower case. */
  readonly scheme: string
  readonly authority: UriAuthority | undefined
  readonly path: string
  /** Without its `?`. */
  readonly query: string | undefined
  /** Without its `#`. */
  readonly fragment: string | undefined
}

export interface UriAuthority {
  /** Without its `@`; undefined when there is no `@`. */
  readonly userInfo: string | undefined
  /** A bracketed IPv6 address is in its canonical form. */
  readonly host: string
  /** Digits, perhaps none; undefined when there is no `:`. */
  readonly port: string | undefined
}

export function parseUri(text: string): Uri | UriError {
  const split = splitUri(text)
  if (split instanceof UriError) return split
  let authority: UriAuthority | undefined
  if (split.authorityAt >= 0) {
    const parsed = parseAuthority(text, split.authorityAt, split.pathAt)
    if (parsed instanceof UriError) return parsed
    authority = parsed
  }
  const pathEnd = skip(URI_PATH, text, split.pathAt)
  if (pathEnd < split.queryAt) return refuse("path", text, pathEnd)
  let query: string | undefined
  if (split.queryAt < split.fragmentAt) {
    const end = skip(URI_TAIL, text, split.queryAt + 1)
    if (end < split.fragmentAt) return refuse("query", text, end)
    query = text.slice(split.queryAt + 1, split.fragmentAt)
  }
  let fragment: string | undefined
  if (split.fragmentAt < text.length) {
    const end = skip(URI_TAIL, text, split.fragmentAt + 1)
    if (end < text.length) return refuse("fragment", text, end)
    fragment = text.slice(split.fragmentAt + 1)
  }
  return { scheme: split.scheme, authority, path: text.slice(split.pathAt, split.queryAt), query, fragment }
}

/** The offsets of the parts of a URI; only the scheme has been checked. */
interface UriSplit {
  readonly scheme: string
  /** -1 when there is none. */
  readonly authorityAt: number
  readonly pathAt: number
  /** The offset of `?`, or of the end of the path. */
  readonly queryAt: number
  /** The offset of `#`, or of the end of the string. */
  readonly fragmentAt: number
}

export function splitUri(text: string): UriSplit | UriError {
  let colon = 0
  while (colon < text.length && isIn(SCHEME, text.charCodeAt(colon))) colon += 1
  if (colon === 0 || !isLetter(text.charCodeAt(0))) {
    return new UriError("scheme", 0, "it must begin with a scheme, such as troupe:")
  }
  if (text.charCodeAt(colon) !== COLON) {
    return new UriError("scheme", colon, "the scheme must be followed by a colon")
  }
  const hasAuthority = text.charCodeAt(colon + 1) === SLASH && text.charCodeAt(colon + 2) === SLASH
  const hash = text.indexOf("#", colon)
  const fragmentAt = hash < 0 ? text.length : hash
  let queryAt = colon + 1
  while (queryAt < fragmentAt && text.charCodeAt(queryAt) !== QUESTION) queryAt += 1
  let pathAt = colon + 1
  if (hasAuthority) {
    pathAt = colon + 3
    while (pathAt < queryAt && text.charCodeAt(pathAt) !== SLASH) pathAt += 1
  }
  const scheme = text.slice(0, colon).toLowerCase()
  return { scheme, authorityAt: hasAuthority ? colon + 3 : -1, pathAt, queryAt, fragmentAt }
}

function parseAuthority(text: string, from: number, to: number): UriAuthority | UriError {
  let at = from
  let userInfo: string | undefined
  const userInfoEnd = skip(USER_INFO, text, from)
  if (userInfoEnd < to && text.charCodeAt(userInfoEnd) === AT) {
    userInfo = text.slice(from, userInfoEnd)
    at = userInfoEnd + 1
  } else if (text.slice(userInfoEnd, to).includes("@")) {
    return refuse("user info", text, userInfoEnd)
  }
  let host: string
  if (text.charCodeAt(at) === OPEN_BRACKET && at < to) {
    const close = text.indexOf("]", at)
    if (close < 0 || close >= to) return new UriError("host", at, "the bracket is not closed")
    const address = canonicalIpv6(text.slice(at + 1, close))
    if (address === undefined)
      return new UriError("host", at + 1, "the brackets must contain an IPv6 address")
    host = `[${address}]`
    at = close + 1
  } else {
    const hostEnd = Math.min(skip(HOST, text, at), to)
    host = text.slice(at, hostEnd)
    at = hostEnd
  }
  if (at === to) return { userInfo, host, port: undefined }
  if (text.charCodeAt(at) !== COLON) return refuse("host", text, at)
  const portAt = at + 1
  at = portAt
  while (at < to && isDigit(text.charCodeAt(at))) at += 1
  if (at < to) return refuse("port", text, at)
  return { userInfo, host, port: text.slice(portAt, to) }
}

function refuse(part: UriPart, text: string, position: number): UriError {
  if (text.charCodeAt(position) === PERCENT)
    return new UriError(part, position, "a % must be followed by two hex digits")
  return new UriError(part, position, `${shownCharacter(text, position)} is not allowed here`)
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

const PERCENT = 37
const SLASH = 47
const COLON = 58
const QUESTION = 63
const AT = 64
const OPEN_BRACKET = 91

/**
 * Whether a request that a browser says was made by a page of `origin` may be answered.
 *
 * A browser sends the cookies of a user with requests of any page to this server, and opens sockets for any
 * page, but it always says truthfully which page that is. A request without an origin is not from a page of
 * another site. By default the page must have come from the same host as the request goes to; the scheme is
 * not compared, because a proxy that ends TLS hides it.
 */
export function isOriginAllowed(
  origin: string | null,
  host: string | null,
  allowed: ReadonlySet<string>,
): boolean {
  if (origin === null || allowed.has(origin)) return true
  const [, of] = ORIGIN.exec(origin) ?? []
  return of !== undefined && host !== null && of.toLowerCase() === host.toLowerCase()
}

const ORIGIN = /^https?:\/\/([^/?#@\s]+)$/i

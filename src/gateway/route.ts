/** What the path of a request stands for. */
type Route = CallRoute | { readonly kind: "socket" } | { readonly kind: "nothing" }

interface CallRoute {
  readonly kind: "call"
  readonly type: string
  readonly key: string
  readonly method: string
}

/**
 * Reads the path of a request: `<base>/<type>/<key>/<method>` is a method of an actor, and the base itself is
 * where sockets connect. Each part is percent-decoded once, after the path was split, so that a key may
 * contain slashes as `%2F`. Nothing else is normalized: `..` is a name like any other.
 */
export function routeOf(url: string, base: string): Route {
  const end = url.search(/[?#]/)
  const path = end < 0 ? url : url.slice(0, end)
  if (path === base) return { kind: "socket" }
  if (!path.startsWith(`${base}/`) || path.length > MOST_CHARACTERS) return NOTHING
  const parts = path.slice(base.length + 1).split("/", 4)
  const [type, key, method] = parts.map(decoded)
  if (parts.length !== 3 || !type || !key || !method) return NOTHING
  return { kind: "call", type, key, method }
}

const NOTHING: Route = { kind: "nothing" }
/** An id has at most 256 characters, each of which may be nine when it is encoded. */
const MOST_CHARACTERS = 4_096

function decoded(part: string): string | undefined {
  if (!part.includes("%")) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

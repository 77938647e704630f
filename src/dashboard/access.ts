import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/**
 * Who may look, where there is no `authenticate`: whoever can read what the process prints. A link has a
 * token that is good for one visit; it is exchanged for a cookie, which scripts cannot read and other sites
 * cannot send. A token that stayed valid would lie in the history of the browser and in the logs of proxies.
 *
 * The keys are compared by their digests, so that the time says nothing about them.
 */
export class Access {
  /** Cookies do not tell the ports of a host apart. */
  readonly cookieName = `troupe-${randomBytes(4).toString("hex")}`
  readonly #links = new Map<string, number>()
  readonly #sessions = new Map<string, number>()

  /** A token for one visit. */
  newToken(now: number): string {
    const token = randomBytes(24).toString("base64url")
    this.#links.set(digestOf(token), now + LINK_MS)
    trim(this.#links, MOST_LINKS)
    return token
  }

  /** The value of a new cookie; undefined if the token is not good, or not any more. */
  exchange(token: string, now: number): string | undefined {
    if (!take(this.#links, token, now)) return undefined
    const session = randomBytes(24).toString("base64url")
    this.#sessions.set(digestOf(session), now + SESSION_MS)
    trim(this.#sessions, MOST_SESSIONS)
    return session
  }

  /** Whether a request with these cookies is let in. */
  isIn(cookies: string | null, now: number): boolean {
    for (const cookie of (cookies ?? "").split(";")) {
      const [name, value = ""] = cookie.trim().split("=")
      if (name !== this.cookieName) continue
      const key = find(this.#sessions, value)
      if (key === undefined || (this.#sessions.get(key) as number) < now) continue
      this.#sessions.set(key, now + SESSION_MS)
      return true
    }
    return false
  }
}

function take(all: Map<string, number>, secret: string, now: number): boolean {
  const key = find(all, secret)
  if (key === undefined) return false
  const until = all.get(key) as number
  all.delete(key)
  return until >= now
}

function find(all: ReadonlyMap<string, number>, secret: string): string | undefined {
  const wanted = Buffer.from(digestOf(secret), "hex")
  let found: string | undefined
  for (const key of all.keys()) if (timingSafeEqual(Buffer.from(key, "hex"), wanted)) found = key
  return found
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}

/** Removes the oldest ones. */
function trim(all: Map<string, number>, most: number): void {
  for (const key of all.keys()) {
    if (all.size <= most) return
    all.delete(key)
  }
}

const LINK_MS = 24 * 3_600_000
const SESSION_MS = 12 * 3_600_000
const MOST_LINKS = 16
const MOST_SESSIONS = 64

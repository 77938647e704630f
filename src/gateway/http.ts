import { messageOf } from "../errors/thrown.js"
import type { Principal } from "../virtual/principal.js"
import { type Doorkeeper, isTicket } from "./doorkeeper.js"
import type { CheckedOptions, GatewayRequest } from "./gateway-options.js"
import { isOriginAllowed } from "./origins.js"
import { type Problem, refusals } from "./problem.js"
import type { PublicCalls } from "./public-calls.js"
import { routeOf } from "./route.js"

/**
 * Calls over HTTP: `POST <path>/<type>/<key>/<method>` with a JSON array of arguments.
 *
 * The order of the checks is that of their cost to this server and of what they tell a stranger. The method
 * and the origin need nothing but the head of the request. Then the caller has to be known: until then all
 * paths get the same answer, so that nobody can try out what is exposed. Only the body of a known caller is
 * read. The content type is a check of its own, not a formality: a page of another site can make a browser
 * send a form or plain text to this server, with the cookies of its user, but not JSON.
 */
export class HttpCalls<P extends Principal> {
  readonly #calls: PublicCalls<P>
  readonly #doorkeeper: Doorkeeper<P>
  readonly #options: CheckedOptions<P>

  constructor(calls: PublicCalls<P>, doorkeeper: Doorkeeper<P>, options: CheckedOptions<P>) {
    this.#calls = calls
    this.#doorkeeper = doorkeeper
    this.#options = options
  }

  /** What the caller asks for is done even if it does not wait for the answer, as over a socket. */
  answer(request: HttpRequest): Promise<HttpAnswer> {
    const { origins, cors } = this.#options
    const origin = request.headers.get("origin")
    const answer = this.#answer(request, origin)
    return cors && origin !== null && origins.has(origin) ? allowing(origin, answer) : answer
  }

  #answer(request: HttpRequest, origin: string | null): Promise<HttpAnswer> {
    const { origins, cors } = this.#options
    if (origin !== null && !isOriginAllowed(origin, request.headers.get("host"), origins)) {
      return Promise.resolve(early(refusals.foreignOrigin))
    }
    if (request.method === "POST") return this.#call(request)
    const isPreflight = request.method === "OPTIONS" && cors && origin !== null && origins.has(origin)
    return Promise.resolve(isPreflight ? PREFLIGHT : early(refusals.methodNotAllowed, { allow: "POST" }))
  }

  /** One function and few promises: each of them is a part of what a call costs. */
  async #call(request: HttpRequest): Promise<HttpAnswer> {
    const { headers } = request
    const { authenticate, path, limits } = this.#options
    const ticket = authenticate === "anyone" ? headers.get("troupe-ticket") : undefined
    const admitted = this.#doorkeeper.admit(request, isTicket(ticket) ? ticket : undefined)
    const caller = admitted instanceof Promise ? await admitted : admitted
    if (caller === undefined) return early(refusals.unauthenticated, { "www-authenticate": "Bearer" })
    const route = routeOf(request.url, path)
    if (route.kind !== "call") return early(refusals.notFound)
    if (!isJson(headers.get("content-type"))) return early(refusals.notJson)
    if (Number(headers.get("content-length") ?? 0) > limits.bodyBytes) return early(refusals.tooLarge)
    const full = this.#calls.enter(caller)
    if (full !== undefined) return early(full)
    try {
      const bytes = await request.body(limits.bodyBytes)
      if (bytes === undefined) return early(refusals.tooLarge)
      const { args, malformed } = this.#argsIn(bytes)
      if (malformed !== undefined) return problemAnswer(malformed)
      const { type, key, method } = route
      const operation = headers.get("idempotency-key") ?? undefined
      const call = { type, key, method, args, operation }
      const decided = this.#calls.mayCall(caller, call)
      const refused = decided instanceof Promise ? await decided : decided
      if (refused !== undefined) return problemAnswer(refused)
      const { problem, json: body } = await this.#calls.make(caller, call)
      if (problem !== undefined) return problemAnswer(problem)
      return body === undefined ? NO_CONTENT : { status: 200, headers: JSON_HEADERS, body }
    } finally {
      this.#calls.leave(caller)
    }
  }

  #argsIn(body: Buffer): { readonly args: readonly unknown[]; readonly malformed?: Problem } {
    try {
      const json = this.#calls.values.parse(body)
      if (Array.isArray(json)) return { args: this.#calls.values.read(json) as unknown[] }
      return { args: [], malformed: refusals.malformed }
    } catch (error) {
      return { args: [], malformed: { ...refusals.malformed, detail: messageOf(error) } }
    }
  }
}

/** A request, from whichever server. */
export interface HttpRequest extends GatewayRequest {
  readonly method: string
  /** Reads the body; undefined if it is longer. */
  body(mostBytes: number): Promise<Buffer | undefined>
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for an answer without content. */
  readonly body: string | undefined
  /** Whether the body of the request was not read, so that no other can follow on its connection. */
  readonly isEarly?: boolean
}

async function allowing(origin: string, answered: Promise<HttpAnswer>): Promise<HttpAnswer> {
  const answer = await answered
  return { ...answer, headers: { ...answer.headers, "access-control-allow-origin": origin, vary: "origin" } }
}

function problemAnswer(problem: Problem): HttpAnswer {
  const { status } = problem
  const retry = status === 429 || status === 503 ? { "retry-after": "1" } : {}
  return { status, headers: { ...PROBLEM_HEADERS, ...retry }, body: JSON.stringify(problem) }
}

function early(problem: Problem, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  const answer = problemAnswer(problem)
  return { ...answer, headers: { ...answer.headers, ...headers }, isEarly: true }
}

function isJson(contentType: string | null): boolean {
  return contentType !== null && /^application\/json\s*(;|$)/i.test(contentType)
}

const SAFE = { "cache-control": "no-store", "x-content-type-options": "nosniff" }
const JSON_HEADERS = { ...SAFE, "content-type": "application/json" }
const PROBLEM_HEADERS = { ...SAFE, "content-type": "application/problem+json" }
const NO_CONTENT: HttpAnswer = { status: 204, headers: SAFE, body: undefined }
const PREFLIGHT: HttpAnswer = {
  status: 204,
  headers: {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "authorization, content-type, idempotency-key, troupe-ticket",
    "access-control-max-age": "600",
  },
  body: undefined,
}

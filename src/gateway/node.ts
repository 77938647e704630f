import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http"
import type { HttpAnswer, HttpRequest } from "./http.js"

/** A request of Node's HTTP server, as the gateway reads it. */
export class NodeRequest implements HttpRequest {
  readonly isSocket = false
  readonly method: string
  readonly url: string
  readonly headers: NodeHeaders
  readonly #message: IncomingMessage

  constructor(message: IncomingMessage) {
    this.#message = message
    this.method = message.method ?? ""
    this.url = message.url ?? ""
    this.headers = new NodeHeaders(message.headers)
  }

  get remoteAddress(): string | undefined {
    return this.#message.socket.remoteAddress
  }

  body(mostBytes: number): Promise<Buffer | undefined> {
    const message = this.#message
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let length = 0
      message
        .on("data", (chunk: Buffer) => {
          length += chunk.length
          if (length <= mostBytes) chunks.push(chunk)
          else if (chunks.length > 0 || length === chunk.length) {
            // The rest is not read: the answer closes the connection.
            chunks.length = 0
            message.pause()
            resolve(undefined)
          }
        })
        .once("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
        .once("error", reject)
        .once("close", () => {
          if (!message.complete) reject(new Error("the caller has left"))
        })
    })
  }
}

/** The headers of Node's HTTP server, without the cost of a `Headers` object for each request. */
export class NodeHeaders {
  readonly #headers: IncomingHttpHeaders

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers
  }

  get(name: string): string | null {
    const headers = this.#headers
    const lower = name.toLowerCase()
    // A header may be called `constructor` or `__proto__`.
    const value = Object.hasOwn(headers, lower) ? headers[lower] : this.#ofHttp2(lower)
    return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value
  }

  #ofHttp2(name: string): string | undefined {
    const headers = this.#headers
    return name === "host" && Object.hasOwn(headers, ":authority") ? String(headers[":authority"]) : undefined
  }
}

export function writeAnswer(response: ServerResponse, { status, headers, body, isEarly }: HttpAnswer): void {
  if (response.destroyed || response.headersSent) return
  // HTTP/2 has no such header: there the server ends the stream.
  const closes = isEarly === true && response.req.httpVersionMajor === 1 ? CLOSES : undefined
  // All headers in one object, and a body that is text: Node then writes both at once.
  const all =
    body === undefined ? headers : { ...headers, ...closes, "content-length": Buffer.byteLength(body) }
  response.writeHead(status, all).end(body)
}

const CLOSES = { connection: "close" }

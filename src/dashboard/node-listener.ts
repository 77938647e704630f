import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

/** Passes the requests of a server of Node on to a function of the web's own `Request` and `Response`. */
export function nodeListener(answer: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    void pass(incoming, outgoing, answer)
  }
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  try {
    const request = await requestOf(incoming)
    if (request === undefined) {
      outgoing.writeHead(413, { connection: "close" }).end()
      return
    }
    const response = await answer(request)
    const body = Buffer.from(await response.arrayBuffer())
    const headers = { ...Object.fromEntries(response.headers), "content-length": body.length }
    outgoing.writeHead(response.status, headers).end(request.method === "HEAD" ? undefined : body)
  } catch {
    // The request cannot be read, as its URL or a header is invalid; or its connection has ended.
    if (!outgoing.headersSent) outgoing.writeHead(400)
    outgoing.end()
  }
}

/** Undefined if the body is too long. */
async function requestOf(incoming: IncomingMessage): Promise<Request | undefined> {
  const { method = "GET", headers, url = "/" } = incoming
  const isTls = "encrypted" in incoming.socket
  const shown = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(":")) shown.set(name, String(value))
  }
  // A request may name another host and path in place of a path; only its path counts.
  const { pathname, search } = new URL(url.startsWith("/") ? `http://localhost${url}` : url)
  const target = `${isTls ? "https" : "http"}://${headers.host ?? "localhost"}${pathname}${search}`
  if (method === "GET" || method === "HEAD") return new Request(target, { method, headers: shown })
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MOST_BODY) return undefined
    chunks.push(chunk)
  }
  return new Request(target, { method, headers: shown, body: Buffer.concat(chunks) })
}

const MOST_BODY = 262_144

import type { HttpAnswer, HttpRequest } from "./http.js"

/** A request of the Fetch standard, as the gateway reads it. */
export class WebRequest implements HttpRequest {
  readonly isSocket = false
  readonly remoteAddress = undefined
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly #request: Request

  constructor(request: Request) {
    // Not `pathname` of a `URL`, which would resolve `..` in keys.
    const [, path = "/"] = /^[^:/?#]+:\/\/[^/?#]*(.*)$/s.exec(request.url) ?? []
    this.#request = request
    this.method = request.method
    this.url = path
    this.headers = request.headers
  }

  async body(mostBytes: number): Promise<Buffer | undefined> {
    const reader = this.#request.body?.getReader()
    if (reader === undefined) return Buffer.alloc(0)
    const chunks: Uint8Array[] = []
    let length = 0
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks, length)
      chunks.push(value)
      length += value.length
      if (length <= mostBytes) continue
      await reader.cancel()
      return undefined
    }
  }
}

export function webAnswer({ status, headers, body }: HttpAnswer): Response {
  return new Response(body ?? null, { status, headers })
}

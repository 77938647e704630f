import { request } from "node:http"
import { describe, expect, it } from "vitest"
import { gateway } from "../../src/gateway/index.js"
import { OPTIONS, startSite, startSystem } from "./support.js"

describe("a call over HTTP", () => {
  it("is made as the caller, with its arguments", async () => {
    const { post } = await startSite()
    const answer = await post("Room/the%20lobby%2F1/say", ["hi"])
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(await answer.json()).toBe("ada in the lobby/1: hi")
    expect(await (await post("Room/x/caller_")).json()).toEqual({ id: "ada", roles: ["user"] })
  })

  it("is answered without content if its method gives nothing", async () => {
    const { post } = await startSite()
    const answer = await post("Room/x/nothing")
    expect([answer.status, await answer.text()]).toEqual([204, ""])
  })

  it("does not pass its caller on to the calls that its actor makes", async () => {
    const { post } = await startSite()
    expect(await (await post("Room/x/relay")).json()).toBe("undefined in other: x")
  })

  it("carries what JSON lacks by marks, in both directions", async () => {
    const { post } = await startSite()
    const values = [
      { $: "Date", v: 0 },
      { $: "bigint", v: "-ff" },
      { $: "Map", v: [["k", { $: "Set", v: [1] }]] },
      { $: "Uint8Array", v: "AQI=" },
      { $: "number", v: "NaN" },
      { $: "Object", v: { $: 1 } },
    ]
    expect(await (await post("Room/x/echo", values)).json()).toEqual(values)
  })

  it.each([
    ["a ref", { $: "ref", v: "troupe://test/user/x" }],
    ["an instance", { $: "type", of: "Refused", v: {} }],
    ["an error", { $: "Error", of: "FencedError", v: [{}, {}] }],
    ["an unknown mark", { $: "Function", v: "x" }],
  ])("is refused if it contains %s", async (_what, value) => {
    const { post } = await startSite()
    const answer = await post("Room/x/echo", [value])
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: "Malformed" }])
  })

  it.each([
    ["no JSON", "{"],
    ["no array", '{"a":1}'],
    ["nothing", ""],
    ["__proto__", '[{"__proto__":{"a":1}}]'],
    ["too deep", "[".repeat(500) + "]".repeat(500)],
    ["bytes that are no UTF-8", "\udc00".repeat(1)],
  ])("is refused if its body is %s", async (what, body) => {
    const { post, port } = await startSite()
    const status =
      what === "bytes that are no UTF-8"
        ? await rawPost(port, Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]))
        : (await post("Room/x/echo", body)).status
    expect(status).toBe(400)
  })

  it("is not run twice under one operation, and operations belong to their principal", async () => {
    const { post } = await startSite()
    const key = { "idempotency-key": "k1" }
    expect(await (await post("Room/o/post", ["a"], key)).json()).toBe(1)
    expect(await (await post("Room/o/post", ["a"], key)).json()).toBe(1)
    const other = await post("Room/o/post", ["b"], { ...key, authorization: "Bearer b" })
    expect([other.status, await other.json()]).toEqual([200, 2])
    const changed = await post("Room/o/post", ["c"], key)
    expect([changed.status, await changed.json()]).toMatchObject([422, { code: "OperationMismatch" }])
    expect(await (await post("Room/o/lines")).json()).toEqual(["a", "b"])
  })

  it("has no operation if its method is not once, or if the operation is not valid", async () => {
    const { post } = await startSite()
    const plain = await post("Room/o/say", ["x"], { "idempotency-key": "k1" })
    expect([plain.status, await plain.json()]).toMatchObject([400, { code: "NotOnce" }])
    const made = await post("Room/o/post", ["x"], { "idempotency-key": `~${"0".repeat(16)}.1` })
    expect([made.status, await made.json()]).toMatchObject([400, { code: "InvalidOperation" }])
    expect(await (await post("Room/o/lines")).json()).toEqual([])
  })
})

describe("nothing is answered", () => {
  it.each([
    ["an unexposed method", "Room/x/toString"],
    ["a hook", "Room/x/onActivate"],
    ["a member of Actor", "Room/x/save"],
    ["the constructor", "Room/x/constructor"],
    ["__proto__", "Room/x/__proto__"],
    ["__proto__ as a type", "__proto__/x/toString"],
    ["constructor as a type", "constructor/x/prototype"],
    ["an internal method", "Room/x/~wake"],
    ["an unknown type", "Vault/x/open"],
    ["no method", "Room/x"],
    ["more than a method", "Room/x/say/y"],
    ["an empty key", "Room//say"],
    ["half an escape", "Room/%2/say"],
  ])("at %s", async (_what, path) => {
    const { post } = await startSite()
    const answer = await post(path)
    expect([answer.status, await answer.json()]).toEqual([
      404,
      {
        status: 404,
        title: "nothing is exposed at this address",
        code: "NotFound",
        delivery: "not-delivered",
      },
    ])
  })

  it("to a caller who is not known, whatever the path is", async () => {
    const { post } = await startSite()
    const answers = await Promise.all(
      ["Room/x/say", "Room/x/hidden", "Vault/x/open"].map((path) =>
        post(path, [], { authorization: "Bearer z" }),
      ),
    )
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(new Set(texts).size).toBe(1)
    expect(answers[0]?.headers.get("www-authenticate")).toBe("Bearer")
  })

  it("to a caller who may not make the call", async () => {
    const { post } = await startSite()
    const refused = await post("Room/bob/hidden")
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "Forbidden" }])
    expect(await (await post("Room/ada/hidden")).json()).toBe("secret")
    const strict = await startSite({
      authorize: async (who, { method }) => who.id === "ada" && method === "say",
    })
    expect((await strict.post("Room/ada/hidden")).status).toBe(403)
    expect((await strict.post("Room/ada/say", ["x"])).status).toBe(200)
    expect((await strict.post("Room/ada/say", ["x"], { authorization: "Bearer b" })).status).toBe(403)
  })

  it.each([
    ["throws", () => Promise.reject(new Error("no"))],
    ["returns something else than true", () => "yes" as unknown as boolean],
  ])("if authorize %s", async (_what, authorize) => {
    const { post } = await startSite({ authorize })
    expect((await post("Room/x/say", ["x"])).status).toBe(403)
  })

  it.each([
    ["no id", { name: "x" }],
    ["an empty id", { id: "" }],
    ["an id that is no string", { id: 1 }],
    ["an id that is too long", { id: "x".repeat(501) }],
    ["a login that has expired", { id: "x", exp: 1 }],
    ["an exp that is no number", { id: "x", exp: "later" }],
    ["what cannot be sent", { id: "x", f: () => {} }],
    ["true", true],
  ])("if authenticate returns %s", async (_what, who) => {
    const { post } = await startSite({ authenticate: () => who as never })
    expect((await post("Room/x/say", ["x"])).status).toBe(401)
  })

  it("to pages of other origins, unless they are named", async () => {
    const { post, url } = await startSite({ origins: ["https://app.example"] })
    const status = async (origin: string) => (await post("Room/x/say", ["x"], { origin })).status
    expect(await status("https://evil.example")).toBe(403)
    expect(await status("null")).toBe(403)
    expect(await status("https://app.example.evil.example")).toBe(403)
    expect(await status("https://app.example")).toBe(200)
    expect(await status(url)).toBe(200)
  })
})

describe("a problem", () => {
  it("is the same for all, without what the error of the method says", async () => {
    const { post } = await startSite()
    const answer = await post("Room/x/fail")
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { status: 500, title: "the call failed", code: "Failed" },
    ])
  })

  it("has the message of an error whose class is registered, and none of its fields", async () => {
    const { post } = await startSite()
    const answer = await post("Room/x/refuse")
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { status: 422, title: "the actor refused the call", code: "RoomIsFull", detail: "the room is full" },
    ])
  })

  it("has all messages with showErrors, and no stack", async () => {
    const { post } = await startSite({ showErrors: true })
    const text = await (await post("Room/x/fail")).text()
    expect(JSON.parse(text)).toMatchObject({ detail: "password=hunter2 at 10.0.0.7" })
    expect(text).not.toContain(".ts:")
  })

  it("says that a result cannot leave, after the call has run", async () => {
    const { post } = await startSite()
    const answer = await post("Room/x/give")
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { code: "InvalidResult", delivery: "unknown" },
    ])
  })

  it("says that the actor did not answer", async () => {
    const { post } = await startSite()
    const answer = await post("Room/x/slow")
    expect([answer.status, await answer.json()]).toEqual([
      504,
      { status: 504, title: "the actor did not answer in time", code: "Timeout", delivery: "unknown" },
    ])
  })
})

describe("limits", () => {
  it("refuse a longer body, announced or not", async () => {
    const { post, port } = await startSite({ limits: { bodyBytes: 100 } })
    expect((await post("Room/x/echo", ["x".repeat(96)])).status).toBe(200)
    expect((await post("Room/x/echo", ["x".repeat(97)])).status).toBe(413)
    expect(await rawPost(port, Buffer.from(`["${"x".repeat(200_000)}"]`), { chunked: true })).toBe(413)
  })

  it("refuse more calls in flight of one principal, and of all", async () => {
    const { post } = await startSite({ limits: { callsOfPrincipal: 2, calls: 3 } })
    const statuses = async (...paths: string[]) =>
      (await Promise.all(paths.map((path) => post(path)))).map(({ status }) => status).sort()
    expect(await statuses("Room/1/slow", "Room/2/slow", "Room/3/slow")).toEqual([429, 504, 504])
    expect(await statuses("Room/4/nothing", "Room/5/nothing")).toEqual([204, 204])
    const [one, two, three] = [
      post("Room/6/slow"),
      post("Room/7/slow"),
      post("Room/8/slow", [], { authorization: "Bearer b" }),
    ]
    const all = [one, two, three, post("Room/9/slow", [], { authorization: "Bearer b" })]
    expect((await Promise.all(all)).map(({ status }) => status).sort()).toEqual([503, 504, 504, 504])
  })

  it("accept POST with JSON only", async () => {
    const { post, url } = await startSite()
    const got = await fetch(`${url}/actors/Room/x/say`, { headers: { authorization: "Bearer a" } })
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST"])
    expect((await post("Room/x/say", ["x"], { "content-type": "text/plain" })).status).toBe(415)
    expect(
      (await post("Room/x/say", ["x"], { "content-type": "application/json; charset=utf-8" })).status,
    ).toBe(200)
  })
})

describe("anyone", () => {
  it("is somebody else with every request, and needs a ticket to name operations", async () => {
    const { post } = await startSite({ authenticate: "anyone" })
    const idOf = async (headers: Record<string, string>) =>
      ((await (await post("Room/x/caller_", [], headers)).json()) as { id: string }).id
    expect(await idOf({})).not.toBe(await idOf({}))
    const ticket = "0123456789abcdefghij"
    const known = await idOf({ "troupe-ticket": ticket })
    expect(known).toBe(await idOf({ "troupe-ticket": ticket }))
    expect(known).not.toContain(ticket)
    const key = { "idempotency-key": "k" }
    const refused = await post("Room/x/post", ["a"], key)
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: "NoTicket" }])
    expect((await post("Room/x/post", ["a"], { ...key, "troupe-ticket": "short" })).status).toBe(400)
    const named = { ...key, "troupe-ticket": ticket }
    expect(await (await post("Room/x/post", ["a"], named)).json()).toBe(1)
    expect(await (await post("Room/x/post", ["a"], named)).json()).toBe(1)
  })
})

describe("fetch", () => {
  it("answers as the Node server does", async () => {
    const web = gateway(await startSystem(), OPTIONS)
    const call = (path: string, init: RequestInit = {}) =>
      web.fetch(
        new Request(`https://example.com/actors/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer a", host: "example.com" },
          body: '["hi"]',
          ...init,
        }),
      )
    const said = await call("Room/lobby/say?x=1")
    expect([said.status, await said.json()]).toEqual([200, "ada in lobby: hi"])
    expect((await call("Room/lobby/nothing")).status).toBe(204)
    expect((await call("Room/lobby/secret")).status).toBe(404)
    expect((await call("Room/lobby/say", { headers: {} })).status).toBe(401)
    const long = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(65_536)) })
    const init = { body: long, duplex: "half" } as RequestInit
    expect((await call("Room/lobby/say", init)).status).toBe(413)
  })

  it("sets CORS headers only for origins that are named, and only with cors", async () => {
    const system = await startSystem()
    const origins = ["https://app.example"]
    const headers = { origin: "https://app.example", host: "example.com" }
    const ask = (cors: boolean, init: RequestInit) =>
      gateway(system, { ...OPTIONS, origins, cors }).fetch(
        new Request("https://example.com/actors/Room/x/say", init),
      )
    const preflight = await ask(true, { method: "OPTIONS", headers })
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([
      204,
      "https://app.example",
    ])
    expect((await ask(false, { method: "OPTIONS", headers })).status).toBe(405)
    const other = await ask(true, {
      method: "OPTIONS",
      headers: { ...headers, origin: "https://evil.example" },
    })
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([403, null])
  })
})

/** Posts bytes as no honest client does, and returns the status. */
function rawPost(port: number, body: Buffer, { chunked = false } = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", authorization: "Bearer a" }
    const sent = request({
      ...{ port, host: "127.0.0.1", method: "POST", path: "/actors/Room/x/echo" },
      headers: chunked ? { ...headers, "transfer-encoding": "chunked" } : headers,
    })
    sent.on("response", (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on("error", reject)
    sent.end(body)
  })
}

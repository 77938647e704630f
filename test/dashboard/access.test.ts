import { connect } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { DashboardAction, dashboard } from "../../src/dashboard/index.js"
import type { DashboardOptions } from "../../src/dashboard/options.js"
import { Actor, type ActorSystem, memoryStore, SettingsError } from "../../src/index.js"
import { startNode } from "../remote/nodes.js"

class Safe extends Actor<{ pin: string; opened: number }> {
  static readonly type = "Safe"

  protected override initialState() {
    return { pin: "0000", opened: 0 }
  }

  async open(times: number) {
    this.state.opened += times
    await this.save()
    return this.state.opened
  }
}

/** Every path of the dashboard, and some that it does not have. */
const PATHS = [
  "/",
  "/style.css",
  "/icon.svg",
  "/web/main.js",
  "/api/view",
  "/api/traces",
  "/api/actor?type=Safe&key=a",
  "/api/actions",
  "/nothing",
  "/web/../../package.json",
  "//",
  "/?token=",
  "/?token=guessed",
  "/api/view?token=guessed",
]

test("every path answers 401 to those who have no cookie, files of the page included", async () => {
  const { board } = await start()
  const link = new URL(await board.listen())
  for (const path of PATHS) {
    for (const method of ["GET", "POST", "PUT", "HEAD", "OPTIONS"]) {
      const response = await fetch(link.origin + path, { method })
      expect([path, method, response.status]).toEqual([path, method, 401])
      expect(response.headers.get("content-security-policy")).toContain("default-src 'self'")
      const body = await response.text()
      if (method !== "HEAD") expect(JSON.parse(body)).toMatchObject({ status: 401 })
    }
  }
})

test("a link is good for one visit, which gets a cookie that scripts and other sites do not have", async () => {
  const { board } = await start()
  const link = await board.listen()
  const first = await fetch(link, { redirect: "manual" })
  expect([first.status, first.headers.get("location")]).toEqual([303, "/"])
  const cookie = first.headers.get("set-cookie") as string
  expect(cookie).toMatch(/^troupe-[0-9a-f]{8}=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/)
  expect((await fetch(link, { redirect: "manual" })).status).toBe(401)
  const headers = { cookie: cookie.split(";")[0] as string }
  const view = await fetch(new URL("/api/view", link), { headers })
  expect([view.status, await view.json()]).toMatchObject([
    200,
    { hasActions: false, showsState: false, namespace: "test" },
  ])
  const another = board.newLink()
  expect((await fetch(another, { redirect: "manual" })).status).toBe(303)
})

test("an address that other hosts can reach needs authenticate, which then lets everybody in", async () => {
  const { board, system } = await start()
  await expect(board.listen({ host: "0.0.0.0" })).rejects.toThrow(SettingsError)
  const own = dashboard(system, {
    authenticate: ({ headers }) => (headers.get("authorization") === "Basic ada" ? { id: "ada" } : undefined),
  })
  onTestFinished(() => own.close())
  const url = new URL(await own.listen({ host: "0.0.0.0" }))
  expect(url.search).toBe("")
  const view = `http://127.0.0.1:${url.port}/api/view`
  expect((await fetch(view)).status).toBe(401)
  expect((await fetch(`${view}?token=x`, { headers: { authorization: "Basic eve" } })).status).toBe(401)
  expect((await fetch(view, { headers: { authorization: "Basic ada" } })).status).toBe(200)
})

test("states are hidden unless showState is set, and redact has the last word", async () => {
  const { system } = await start()
  await system.actor(Safe, "a").open(1)
  const shown = async (options: DashboardOptions) => {
    const response = await insider(system, options)("/api/actor?type=Safe&key=a")
    return (await response.text()) as string
  }
  expect(await shown({})).not.toContain("0000")
  expect(await shown({ showState: true })).toContain('"pin":"0000"')
  const redact = (state: unknown) => ({ ...(state as object), pin: "hidden" })
  const redacted = await shown({ showState: true, redact })
  expect([redacted.includes("0000"), redacted.includes('"pin":"hidden"')]).toEqual([false, true])
})

test("a server of one's own can pass requests on, below a path", async () => {
  const { system } = await start()
  const ask = insider(system, { path: "/ops/board" })
  expect((await ask("/ops/board")).headers.get("location")).toBe("/ops/board/")
  expect((await ask("/ops/board/api/view")).status).toBe(200)
  expect((await ask("/api/view")).status).toBe(404)
  const board = dashboard(system, { path: "/ops/board" })
  expect(board.linkPath()).toMatch(/^\/ops\/board\/\?token=[\w-]{32}$/)
  expect(() => board.newLink()).toThrow("call listen first")
})

test("actions are off unless they are allowed", async () => {
  const { system } = await start()
  const action = { action: "deactivate", type: "Safe", key: "a", isDryRun: true }
  expect((await insider(system, {})("/api/actions", post(action))).status).toBe(403)
})

test("an action needs a header that no form can send, and the origin of the page", async () => {
  const { system } = await start()
  const ask = insider(system, { actions: true })
  const action = { action: "deactivate", type: "Safe", key: "a", isDryRun: true }
  const answer = async (headers: Record<string, string>) =>
    (await ask("/api/actions", { method: "POST", headers, body: JSON.stringify(action) })).status
  expect(await answer({})).toBe(403)
  expect(await answer({ "x-troupe-dashboard": "1", origin: "http://elsewhere.example" })).toBe(403)
  expect(await answer({ "x-troupe-dashboard": "1", origin: "null" })).toBe(403)
  expect(await answer({ "x-troupe-dashboard": "1", origin: ORIGIN })).toBe(200)
  expect((await ask("/api/actions")).status).toBe(405)
})

test("a dry run says what an action would affect and changes nothing; both are published", async () => {
  const { system } = await start()
  await system.actor(Safe, "a").open(1)
  const said: string[] = []
  system.events.subscribe(DashboardAction, ({ who, action, actor, method = "", isDryRun, isDone }) =>
    said.push(`${who} ${action} ${actor} ${method} ${isDryRun ? "tried" : "did"} ${isDone}`),
  )
  const ask = insider(system, { actions: true })
  const run = async (action: object) =>
    (await ask("/api/actions", post({ type: "Safe", key: "a", ...action }))).json()
  const call = { action: "call", method: "open", args: [2] }
  expect(await run({ ...call, isDryRun: true })).toMatchObject({
    isDone: true,
    text: expect.stringMatching(/^would call open of Safe\/a on 127\.0\.0\.1:\d+#/),
  })
  expect(await run({ ...call, isDryRun: false })).toEqual({
    isDone: true,
    text: "Safe/a has answered",
    answer: "3",
  })
  expect(await run({ ...call, method: "crack", isDryRun: true })).toMatchObject({ isDone: false })
  const deactivate = { action: "deactivate" }
  expect(await run({ ...deactivate, isDryRun: true })).toMatchObject({
    isDone: true,
    text: expect.stringMatching(/^would end Safe\/a on /),
  })
  expect((await system.inspect(Safe, "a")).activation).toBeDefined()
  expect(await run({ ...deactivate, isDryRun: false })).toMatchObject({ isDone: true })
  expect((await system.inspect(Safe, "a")).activation).toBeUndefined()
  expect(await run({ ...deactivate, isDryRun: false })).toEqual({
    isDone: false,
    text: "Safe/a does not run anywhere",
  })
  const destroy = { action: "destroy" }
  expect(await run({ ...destroy, isDryRun: true })).toMatchObject({
    isDone: true,
    text: expect.stringMatching(
      /^would destroy Safe\/a for good: \d+ bytes of state, 0 reminders, 0 messages/,
    ),
  })
  expect((await system.inspect(Safe, "a")).stored).toBeDefined()
  expect(await run({ ...destroy, isDryRun: false })).toEqual({ isDone: true, text: "Safe/a was destroyed" })
  expect((await system.inspect(Safe, "a")).stored).toBeUndefined()
  expect(await run({ ...destroy, isDryRun: true })).toMatchObject({ isDone: false })
  system.events.flush()
  expect(said).toEqual([
    "ada call Safe/a open tried true",
    "ada call Safe/a open did true",
    "ada call Safe/a crack tried false",
    "ada deactivate Safe/a  tried true",
    "ada deactivate Safe/a  did true",
    "ada deactivate Safe/a  did false",
    "ada destroy Safe/a  tried true",
    "ada destroy Safe/a  did true",
    "ada destroy Safe/a  tried false",
  ])
})

test("what is no action, or too long, is refused", async () => {
  const { system } = await start()
  const ask = insider(system, { actions: true })
  const bodies = [
    "",
    "[]",
    "null",
    "{}",
    '{"action":"erase"}',
    '{"action":"call","type":1,"key":"a","isDryRun":true}',
  ]
  const statuses = await Promise.all(
    bodies.map(async (body) => (await ask("/api/actions", { ...post({}), body })).status),
  )
  expect(statuses).toEqual(bodies.map(() => 400))
  expect((await ask("/api/actions", { ...post({}), body: "x".repeat(70_000) })).status).toBe(413)
  expect((await ask("/api/actor?type=no/such&key=")).status).toBe(400)
})

test("requests that are no requests close their connections and do no harm", async () => {
  const { board } = await start()
  const { hostname, port } = new URL(await board.listen())
  for (const raw of [
    "GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nhost: a b\r\n\r\n",
    "nonsense\r\n\r\n",
  ]) {
    const answer = await new Promise<string>((resolve) => {
      let text = ""
      const socket = connect(Number(port), hostname, () => socket.end(raw))
      socket.on("data", (data) => {
        text += data
      })
      socket.on("close", () => resolve(text))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 40[01] /)
  }
})

test("a dashboard that is closed answers those who wait, and watches nothing", async () => {
  const { board } = await start()
  const link = await board.listen()
  await fetch(link, { redirect: "manual" })
  await board.close()
  await expect(fetch(link)).rejects.toThrow()
})

const ORIGIN = "http://localhost:1"

async function start(): Promise<{ system: ActorSystem; board: ReturnType<typeof dashboard> }> {
  const { system } = await startNode({ actors: [Safe], store: memoryStore() })
  const board = dashboard(system as ActorSystem)
  onTestFinished(() => board.close())
  return { system: system as ActorSystem, board }
}

/** Asks the dashboard as one who was let in. */
function insider(system: ActorSystem, options: DashboardOptions) {
  const board = dashboard(system, { ...options, authenticate: () => ({ id: "ada" }) })
  onTestFinished(() => board.close())
  return (path: string, init?: RequestInit) => board.fetch(new Request(ORIGIN + path, init))
}

function post(action: object): RequestInit {
  return { method: "POST", headers: { "x-troupe-dashboard": "1" }, body: JSON.stringify(action) }
}

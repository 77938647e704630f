import { once } from "node:events"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { gateway } from "../../src/gateway/index.js"
import { ActorSystem } from "../../src/index.js"
import { endHeld, heldTurns, OPTIONS, startSite, startSystem } from "./support.js"

it("answers what is in flight, refuses what is new, and then ends", async () => {
  const { post, port, close } = await startSite()
  const socket = new WebSocket(`ws://127.0.0.1:${port}/actors`)
  onTestFinished(() => socket.terminate())
  await once(socket, "open")
  socket.send('{"kind":"hello","version":1,"token":"a"}')
  await once(socket, "message")
  socket.send('{"kind":"call","id":1,"type":"Room","key":"s","method":"hold","args":[]}')
  const overHttp = post("Room/h/hold")
  await heldTurns(2)

  const closing = close()
  const refused = await post("Room/x/say", ["x"])
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: "GatewayClosing" }])
  socket.send('{"kind":"call","id":2,"type":"Room","key":"x","method":"say","args":["x"]}')
  const [late] = (await once(socket, "message")) as [Buffer]
  expect(JSON.parse(late.toString())).toMatchObject({ id: 2, problem: { code: "GatewayClosing" } })

  const answered = once(socket, "message")
  const ended = once(socket, "close")
  endHeld()
  expect(JSON.parse(String(((await answered) as [Buffer])[0]))).toEqual({ kind: "result", id: 1 })
  expect((await ended)[0]).toBe(1001)
  expect((await overHttp).status).toBe(204)
  await closing
  await expect(post("Room/x/say", ["x"])).rejects.toThrow()
})

it("needs a system that can call actors", async () => {
  const system = await ActorSystem.start({ namespace: "test" })
  onTestFinished(() => system.stop())
  expect(() => gateway(system, OPTIONS)).toThrow("this system cannot call actors")
})

it.each<[string, object]>([
  ["authenticate must be a function", { authenticate: undefined }],
  ["authenticate must be a function", { authenticate: "everybody" }],
  ["authorize must be a function", { authorize: true }],
  ["path must be a path", { path: "actors" }],
  ["path must be a path", { path: "/actors/" }],
  ["origins must be an array", { origins: "https://a.example" }],
  ["origins[0] must be an origin", { origins: ["a.example"] }],
  ["origins[0] must be an origin", { origins: ["https://a.example/"] }],
  ["cors must be true or false", { cors: "yes" }],
  ["limits.calls must be a positive integer", { limits: { calls: 0 } }],
  ["limits.call: there is no such setting", { limits: { call: 1 } }],
  ["gateway.exposed: there is no such setting", { exposed: {} }],
])("says that %s", async (problem, options) => {
  const system = await startSystem()
  expect(() => gateway(system, { ...OPTIONS, ...options } as typeof OPTIONS)).toThrow(problem)
})

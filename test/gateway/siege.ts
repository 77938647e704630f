import { once } from "node:events"
import { Agent, request } from "node:http"
import { expect, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { SeededRandom } from "../../src/sim/seeded-random.js"
import { bytesInUse, MIB } from "../remote/support/memory.js"
import { HostileInput } from "./hostile-input.js"
import { Room, type Site, startSite } from "./support.js"

const WORKERS = 8

/** What the actors ran, and for whom. */
const ran: string[] = []
for (const name of Object.getOwnPropertyNames(Room.prototype)) {
  const run: unknown = Reflect.get(Room.prototype, name)
  if (["constructor", "initialState"].includes(name) || typeof run !== "function") continue
  Object.defineProperty(Room.prototype, name, {
    value(this: { readonly caller: { readonly id: string } | undefined }, ...args: unknown[]) {
      ran.push(`${name} for ${this.caller?.id}`)
      return Reflect.apply(run, this, args) as unknown
    },
  })
}

const ALLOWED = new Set(["say", "echo", "nothing"])

/** Forgets what was run, and says what should not have been. */
function wronglyRun(): string[] {
  return ran.splice(0).filter((line) => {
    const [name = "", caller] = line.split(" for ")
    return !ALLOWED.has(name) || (caller !== "ada" && caller !== "bob")
  })
}

const EXPOSED = { Room: { say: true, echo: true, nothing: true, hidden: { allow: () => false } } } as const

/** Makes hostile requests, and expects that those are answered that may be, and no others. */
export async function besiegeWithRequests(requests: number): Promise<void> {
  const site = await startSite({ expose: EXPOSED })
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS })
  onTestFinished(() => agent.destroy())
  const statuses = new Map<number, number>()
  const work = async (worker: number, count: number) => {
    const input = new HostileInput(new SeededRandom(worker))
    for (let sent = 0; sent < count; sent += 1) {
      const { status, text } = await ask(site, agent, input)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect(text).not.toMatch(/\.ts:\d|node_modules|secret/)
    }
  }
  const round = (count: number) =>
    Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker, count)))
  await round(requests / WORKERS / 10)
  const before = await bytesInUse()
  await round((requests / WORKERS / 10) * 9)
  expect(ran.length).toBeGreaterThan(requests / 20)
  expect(wronglyRun()).toEqual([])
  expect([...statuses.keys()].sort()).toEqual([200, 204, 400, 401, 403, 404, 405, 415])
  expect(await (await site.post("Room/x/say", ["hi"])).json()).toBe("ada in x: hi")
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false)
  expect((await bytesInUse()) - before).toBeLessThan(16 * MIB)
}

/** Sends hostile frames over sockets, and expects the same. */
export async function besiegeWithFrames(frames: number): Promise<void> {
  const site = await startSite({ expose: EXPOSED })
  const codes = new Map<number, number>()
  const answers = new Map<string, number>()
  const work = async (worker: number, count: number) => {
    const input = new HostileInput(new SeededRandom(worker))
    for (let sent = 0; sent < count; ) {
      const socket = new WebSocket(`ws://127.0.0.1:${site.port}/actors`)
      const closed = once(socket, "close")
      let unanswered = 0
      let answered = () => {}
      socket.on("message", (data: Buffer) => {
        const text = data.toString()
        const { kind, problem } = JSON.parse(text) as { kind: string; problem?: { code: string } }
        const what = problem?.code ?? kind
        answers.set(what, (answers.get(what) ?? 0) + 1)
        if (/\.ts:\d|node_modules|secret/.test(text)) throw new Error(text)
        unanswered -= 1
        answered()
      })
      await Promise.race([once(socket, "open"), closed])
      if (!input.happens(5)) {
        socket.send('{"kind":"hello","version":1,"token":"a"}')
        await Promise.race([once(socket, "message"), closed])
        unanswered = 0
      }
      while (socket.readyState === WebSocket.OPEN && sent < count) {
        // Not more at a time than one principal may have in flight, so that most frames are looked at.
        for (let burst = 0; burst < 10; burst += 1) {
          socket.send(input.frame)
          unanswered += 1
          sent += 1
        }
        const quiet = new Promise<void>((resolve) => {
          answered = () => unanswered <= 5 && resolve()
        })
        await Promise.race([quiet, closed])
      }
      if (socket.readyState === WebSocket.OPEN) socket.close()
      const [code] = (await closed) as [number]
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
  }
  const round = (count: number) =>
    Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker, count)))
  await round(frames / WORKERS / 10)
  const before = await bytesInUse()
  await round((frames / WORKERS / 10) * 9)
  expect(ran.length).toBeGreaterThan(frames / 20)
  expect(wronglyRun()).toEqual([])
  expect([...codes.keys()].sort()).toEqual([1005, 4400, 4403])
  for (const what of ["welcome", "result", "NotFound", "Forbidden", "Malformed", "NotOnce", "InvalidKey"]) {
    expect(answers.get(what), what).toBeGreaterThan(10)
  }
  expect(await (await site.post("Room/x/say", ["hi"])).json()).toBe("ada in x: hi")
  expect((await bytesInUse()) - before).toBeLessThan(16 * MIB)
}

function ask(
  { port }: Site,
  agent: Agent,
  input: HostileInput,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const { path, headers, verb: method, args } = input
    const sent = request({ port, host: "127.0.0.1", agent, path, headers, method }, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
      response.on("error", reject)
    })
    sent.on("error", reject)
    sent.end(method === "POST" ? args : undefined)
  })
}

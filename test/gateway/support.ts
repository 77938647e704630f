import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { type GatewayOptions, gateway } from "../../src/gateway/index.js"
import { Actor, ActorSystem, consoleLogger } from "../../src/index.js"

/** An error that its author has made a part of the interface. */
export class Refused extends Error {
  readonly code = "RoomIsFull"
  readonly secret = "42"
}

/** What ends the turns of `slow` and `hold`. */
const held: (() => void)[] = []
let onHeld = () => {}

/** Resolves when so many turns of `slow` or `hold` run. */
export function heldTurns(count: number): Promise<void> {
  return new Promise((resolve) => {
    onHeld = () => held.length >= count && resolve()
    onHeld()
  })
}

export function endHeld(): void {
  for (const end of held.splice(0)) end()
}

/** The actor of these tests. Only some of its methods are exposed. */
export class Room extends Actor<{ lines: string[] }> {
  static readonly type = "Room"
  static readonly methods = { post: { once: true }, slow: { timeoutMs: 500 } }

  protected override initialState() {
    return { lines: [] as string[] }
  }

  say(text: string) {
    return `${this.caller?.id} in ${this.key}: ${text}`
  }
  echo(...values: unknown[]) {
    return values
  }
  caller_() {
    return { ...this.caller }
  }
  nothing(): void {}
  post(line: string) {
    this.state.lines.push(line)
    return this.state.lines.length
  }
  lines() {
    return this.state.lines
  }
  fail(): void {
    throw new Error("password=hunter2 at 10.0.0.7")
  }
  refuse(): void {
    throw new Refused("the room is full")
  }
  give(): unknown {
    return new Error("inner")
  }
  slow(): Promise<void> {
    return this.hold()
  }
  hold(): Promise<void> {
    return new Promise((resolve) => {
      held.push(resolve)
      onHeld()
    })
  }
  hidden(): string {
    return "secret"
  }
  onlyHere(): void {}
  async relay(): Promise<string> {
    return await this.actor(Room, "other").say("x")
  }
}

export const USERS: Readonly<Record<string, string>> = { "Bearer a": "ada", "Bearer b": "bob" }

export const OPTIONS: GatewayOptions = {
  authenticate: ({ headers }) => {
    const id = USERS[headers.get("authorization") ?? ""]
    return id === undefined ? undefined : { id, roles: ["user"] }
  },
  expose: {
    Room: {
      ...{ say: true, echo: true, caller_: true, nothing: true, post: true, lines: true, fail: true },
      ...{ refuse: true, give: true, slow: true, hold: true, relay: true },
      hidden: { allow: (who, { key }) => key === who.id },
    },
  },
}

export async function startSystem(): Promise<ActorSystem> {
  const system = await ActorSystem.start({
    namespace: "test",
    actors: [Room],
    types: [Refused],
    logger: consoleLogger({ level: "error" }),
  })
  onTestFinished(async () => {
    endHeld()
    await system.stop()
  })
  return system
}

export interface Site {
  readonly system: ActorSystem
  readonly port: number
  readonly url: string
  readonly server: Server
  /** Closes the gateway and the server. */
  close(): Promise<void>
  post(path: string, args?: unknown, headers?: Record<string, string>): Promise<Response>
}

/** A server with a gateway, which the end of the test stops. */
export async function startSite(
  options: Partial<GatewayOptions> = {},
  given?: ActorSystem,
  at = 0,
): Promise<Site> {
  const system = given ?? (await startSystem())
  const web = gateway(system, { ...OPTIONS, ...options })
  const server = createServer(web.node).on("upgrade", web.upgrade)
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve))
  const close = async () => {
    await web.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  onTestFinished(close)
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const usual = { "content-type": "application/json", authorization: "Bearer a" }
  return {
    ...{ system, port, url, server, close },
    post: (path, args = [], headers = {}) =>
      fetch(`${url}/actors/${path}`, {
        method: "POST",
        headers: { ...usual, ...headers },
        body: typeof args === "string" ? args : JSON.stringify(args),
      }),
  }
}

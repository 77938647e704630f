import { once } from "node:events"
import net from "node:net"
import tls from "node:tls"
import { inspect } from "node:util"
import { afterEach, describe, expect, test, vi } from "vitest"
import { ca, expired, node, otherCa, otherNode } from "../../test/certificates/certificates.js"
import { NetworkError } from "../errors/network-error.js"
import type { Connection, ConnectOptions, Endpoint, Listener, TlsOptions } from "../ports/network.js"
import { nodeNetwork } from "./node-network.js"

const anyPort: Endpoint = { host: "127.0.0.1", port: 0 }
const trusting: TlsOptions = { ...node, ca }
const mutual: TlsOptions = { ...trusting, mutual: true }
const started: (() => unknown)[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  for (const stop of started.splice(0)) await stop()
})

describe("a client judges the server", () => {
  test.each([
    ["by the host that it dials", node, {}],
    ["by the name that it is told", otherNode, { ca: otherCa, serverName: "other.test" }],
    ["by an address that it is told", node, { serverName: "::1" }],
  ])("%s", async (_, server, client) => {
    const warn = vi.spyOn(process, "emitWarning")
    const { at } = await listen({ ...server, ca })
    await connect(at, { ...trusting, ...client })
    expect(warn).not.toHaveBeenCalled()
  })

  test("and dials by name", async () => {
    const { at } = await listen(trusting)
    await connect({ host: "localhost", port: at.port }, trusting)
  })

  test.each([
    ["of an unknown authority", node, { ca: otherCa }, /`tls.ca`/],
    ["that the machine's own authorities have not signed", node, { ca: undefined }, /`tls.ca`/],
    ["that has expired", expired, {}, /expired.*dates/],
    [
      "without the host that it dials",
      otherNode,
      { ca: otherCa },
      /127\.0\.0\.1 is not in.*`tls.serverName`/,
    ],
    ["without the name that it is told", node, { serverName: "other.test" }, /other\.test.*`tls.serverName`/],
    ["without the address that it is told", node, { serverName: "10.0.0.7" }, /10\.0\.0\.7 is not in/],
  ])("and refuses a certificate %s", async (_, server, client, message) => {
    // The environment can tell Node to believe everybody.
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0")
    vi.spyOn(process, "emitWarning").mockReturnValue()
    const { at } = await listen({ ...server, ca })
    const error = await failure(nodeNetwork.connect(at, { tls: { ...trusting, ...client } }))
    expect(error.code).toBe("Untrusted")
    expect(error.message).toContain(`cannot connect to 127.0.0.1:${at.port}: `)
    expect(error.message).toMatch(message)
  })
})

describe("a mutual listener judges the client", () => {
  test("and accepts what its authority signed", async () => {
    const listener = await listen(mutual)
    const client = await connect(listener.at, trusting)
    const server = await listener.accepted
    expect(await echoed(client, server)).toBe("hello")
  })

  test.each([
    ["of an unknown authority", otherNode],
    ["that has expired", expired],
  ])("and refuses a certificate %s: the client's connection ends at once", async (_, client) => {
    const listener = await listen(mutual)
    const connection = await connect(listener.at, { ...client, ca })
    expect(await firstCall(connection)).toMatch(/^(ended|closed failed)$/)
    expect(listener.count).toBe(0)
  })

  test("and refuses a client without one", async () => {
    const listener = await listen(mutual)
    const stranger = tls.connect({ ...listener.at, ca })
    const [error] = await once(stranger, "error")
    expect(error.code).toBe("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED")
    expect(listener.count).toBe(0)
  })

  test("but one that is not mutual does not ask", async () => {
    const listener = await listen(trusting)
    await connect(listener.at, { ...otherNode, ca })
    await listener.accepted
  })
})

describe("a listener drops", () => {
  test.each<[string, (at: Endpoint) => net.Socket]>([
    ["garbage", (at) => silentPeer(at).end("GET / HTTP/1.1\r\n\r\n")],
    ["a handshake that is reset half-way", (at) => halfHandshake(silentPeer(at))],
    [
      "an older TLS",
      (at) => tls.connect({ ...at, ...trusting, maxVersion: "TLSv1.2" }).on("error", () => {}),
    ],
  ])("%s, and goes on", async (_, stranger) => {
    const listener = await listen(mutual)
    await gone(stranger(listener.at))
    await connect(listener.at, trusting)
    await listener.accepted
    expect(listener.count).toBe(1)
  })

  test("a peer that does not finish its handshake within ten seconds", async () => {
    const setTimeout = net.Socket.prototype.setTimeout
    const timeouts: number[] = []
    vi.spyOn(net.Socket.prototype, "setTimeout").mockImplementation(function (
      this: net.Socket,
      ms,
      callback,
    ) {
      timeouts.push(ms)
      return setTimeout.call(this, Math.min(ms, 1), callback)
    })
    const listener = await listen(mutual)
    await gone(silentPeer(listener.at))
    expect(timeouts).toEqual([10_000])
    expect(listener.count).toBe(0)
  })

  test("those whose handshake is in progress when it closes, and no others", async () => {
    const listener = await listen(mutual)
    const stranger = silentPeer(listener.at)
    await once(stranger, "connect")
    const client = await connect(listener.at, trusting)
    const server = await listener.accepted
    await listener.close()
    await gone(stranger)
    expect(await echoed(client, server)).toBe("hello")
  })
})

describe("a client at a listener that speaks no TLS", () => {
  test("gives up after its timeout, and lets go of it", async () => {
    const { at, peer } = await plainServer(() => {})
    const error = await failure(nodeNetwork.connect(at, { tls: trusting, timeoutMs: 50 }))
    expect(error.code).toBe("TimedOut")
    expect(error.message).toMatch(/no answer within 50 ms; check that the peer uses TLS/)
    await gone(await peer)
  })

  test("may be cancelled, and lets go of it", async () => {
    const { at, peer } = await plainServer(() => {})
    const caller = new AbortController()
    const connecting = failure(nodeNetwork.connect(at, { tls: trusting, signal: caller.signal }))
    const socket = await peer
    caller.abort()
    expect((await connecting).code).toBe("Cancelled")
    await gone(socket)
  })

  test.each<[string, (socket: net.Socket) => void, string]>([
    ["that hangs up", (socket) => socket.end(), "Reset"],
    ["that talks", (socket) => socket.write("220 this is something else\r\n"), "Other"],
  ])("%s says what to check", async (_, act, code) => {
    const { at } = await plainServer(act)
    const error = await failure(nodeNetwork.connect(at, { tls: trusting }))
    expect(error.code).toBe(code)
    expect(error.message).toContain("check that the peer uses TLS")
    expect(error.message).not.toContain("openssl")
  })

  test("or an older one, says so as well", async () => {
    const server = tls.createServer({ ...node, maxVersion: "TLSv1.2" }).on("tlsClientError", () => {})
    const error = await failure(nodeNetwork.connect(await bound(server), { tls: trusting }))
    expect(error).toMatchObject({ code: "Other", message: expect.stringMatching(/protocol version; check/) })
  })
})

const otherKey = { cert: node.cert, key: expired.key }
test.each<[string, TlsOptions, RegExp]>([
  ["a certificate that is none", { ...trusting, cert: node.key }, /`tls.cert` must be a certificate/],
  ["an empty certificate", { ...trusting, cert: "" }, /`tls.cert` must be a certificate/],
  ["a key that is none", { ...trusting, key: node.cert }, /`tls.key` must be a private key/],
  ["half a key", { ...trusting, key: node.key.slice(0, 120) }, /`tls.key` must be a private key/],
  ["an empty key", { ...trusting, key: "" }, /`tls.key` must be a private key/],
  ["the key of another certificate", { ...trusting, ...otherKey }, /`tls.key` must be the key of `tls.cert`/],
  ["an authority that is none", { ...node, ca: "believe everybody" }, /`tls.ca` must be a certificate/],
  ["an empty authority", { ...node, ca: "" }, /`tls.ca` must be a certificate/],
  ["mutual without an authority", { ...node, mutual: true }, /`tls.mutual` needs `tls.ca`/],
  [
    "a key that is not a string",
    { cert: node.cert, key: 1_234_567 as never },
    /`tls.key` must be a private key/,
  ],
])("%s is refused by both, and no key is shown", async (_, options, message) => {
  const { at } = await listen(trusting)
  const attempts = [
    nodeNetwork.listen(anyPort, () => {}, { tls: options }),
    nodeNetwork.connect(at, { tls: options }),
  ]
  for (const attempt of attempts) {
    const error = await failure(attempt)
    expect(error.code).toBe("Other")
    expect(error.message).toMatch(message)
    const shown = inspect(error, { depth: null, showHidden: true })
    expect(shown).not.toMatch(/PRIVATE KEY|1234567/)
    for (const secret of [node.key, expired.key]) expect(shown).not.toContain(secret.split("\n")[1])
  }
})

interface Watched extends Listener {
  readonly accepted: Promise<Connection>
  readonly count: number
}

async function listen(options: TlsOptions): Promise<Watched> {
  let count = 0
  let accept: (connection: Connection) => void = () => {}
  const accepted = new Promise<Connection>((resolve) => {
    accept = resolve
  })
  const listener = await nodeNetwork.listen(
    anyPort,
    (connection) => {
      count += 1
      started.push(() => connection.destroy())
      accept(connection)
    },
    { tls: options },
  )
  started.push(() => listener.close())
  return {
    ...listener,
    accepted,
    get count() {
      return count
    },
  }
}

async function connect(to: Endpoint, options: TlsOptions): Promise<Connection> {
  const connection = await nodeNetwork.connect(to, { tls: options } satisfies ConnectOptions)
  started.push(() => connection.destroy())
  return connection
}

function silentPeer(at: Endpoint): net.Socket {
  const socket = net.connect({ ...at }).on("error", () => {})
  started.push(() => socket.destroy())
  return socket
}

/** The first bytes of a ClientHello. */
function halfHandshake(socket: net.Socket): net.Socket {
  socket.write(Buffer.from("160301020001", "hex"), () => socket.resetAndDestroy())
  return socket
}

async function plainServer(
  act: (socket: net.Socket) => void,
): Promise<{ readonly at: Endpoint; readonly peer: Promise<net.Socket> }> {
  const server = net.createServer((socket) => {
    started.push(() => socket.destroy())
    socket.on("error", () => {})
    act(socket)
  })
  const peer = once(server, "connection").then(([socket]) => socket)
  return { at: await bound(server), peer }
}

async function bound(server: net.Server): Promise<Endpoint> {
  server.listen(0, "127.0.0.1")
  started.push(() => server.close())
  await once(server, "listening")
  return { host: "127.0.0.1", port: (server.address() as net.AddressInfo).port }
}

async function gone(socket: net.Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()).resume())
}

/** Says hello from one side to the other, and back. */
async function echoed(client: Connection, server: Connection): Promise<string> {
  const heard = new Promise<string>((resolve) => {
    const rest = { drained() {}, ended() {}, closed() {} }
    client.attach({ ...rest, data: (chunk) => resolve(Buffer.from(chunk).toString()) })
    server.attach({ ...rest, data: (chunk) => void server.write(chunk) })
  })
  client.write(Buffer.from("hello"))
  return heard
}

function firstCall(connection: Connection): Promise<string> {
  return new Promise((resolve) => {
    connection.attach({
      data: () => resolve("data"),
      drained: () => resolve("drained"),
      ended: () => resolve("ended"),
      closed: ({ kind }) => resolve(`closed ${kind}`),
    })
  })
}

async function failure(attempt: Promise<unknown>): Promise<NetworkError> {
  const error = await attempt.then(
    () => expect.unreachable("it should have failed"),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(NetworkError)
  return error as NetworkError
}

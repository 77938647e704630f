import dns from "node:dns"
import { getEventListeners } from "node:events"
import { afterEach, describe, expect, test, vi } from "vitest"
import { ca, node } from "../../test/certificates/certificates.js"
import { NetworkError } from "../errors/network-error.js"
import type { Connection, ConnectOptions, Endpoint, Listener, ListenOptions } from "../ports/network.js"
import { nodeClock } from "./node-clock.js"
import { nodeNetwork } from "./node-network.js"

const anyPort: Endpoint = { host: "127.0.0.1", port: 0 }
const started: (() => unknown)[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  for (const stop of started.splice(0)) await stop()
})

describe.each([
  ["TCP", {}],
  ["TLS", { tls: { ...node, ca, mutual: true } }],
])("over %s", (_, secured: ListenOptions) => {
  describe("listening", () => {
    test("says which port the system chose", async () => {
      const listener = await listen(secured, () => {})
      expect(listener.at).toEqual({ host: "127.0.0.1", port: expect.toSatisfy((port) => port > 0) })
    })

    test("refuses an address in use, and says what to do", async () => {
      const { at } = await listen(secured, () => {})
      const error = await failure(nodeNetwork.listen(at, () => {}, secured))
      expect(error.code).toBe("AddressInUse")
      expect(error.message).toContain(`cannot listen on 127.0.0.1:${at.port}`)
      expect(error.message).toContain("port 0")
    })

    test("frees the port when it is closed, though a connection lives on", async () => {
      const [client, server, listener] = await pair(secured)
      await listener.close()
      const again = await nodeNetwork.listen(listener.at, () => {}, secured)
      started.push(() => again.close())
      expect(again.at).toEqual(listener.at)
      server.write(Buffer.from("still here"))
      const heard = await new Promise<Uint8Array>((resolve) => {
        client.attach({ data: resolve, drained() {}, ended() {}, closed() {} })
      })
      expect(Buffer.from(heard).toString()).toBe("still here")
    })

    test("accepts nobody once closed, and may be closed twice", async () => {
      const listener = await listen(secured, () => expect.unreachable())
      await Promise.all([listener.close(), listener.close()])
      await listener.close()
      expect((await failure(nodeNetwork.connect(listener.at, secured))).code).toBe("Refused")
    })

    test.each([
      [{ host: "127.0.0.1", port: 70_000 }, /70000/],
      [{ host: "", port: 0 }, /host must not be empty/],
    ])("at %o fails with a NetworkError", async (at, message) => {
      const error = await failure(nodeNetwork.listen(at, () => {}, secured))
      expect(error.code).toBe("Other")
      expect(error.message).toMatch(message)
    })
  })

  describe("connecting", () => {
    test("gives both sides the same two endpoints", async () => {
      const [client, server, listener] = await pair(secured)
      expect(client.remote).toEqual(listener.at)
      expect(server.local).toEqual(client.remote)
      expect(server.remote).toEqual(client.local)
    })

    test("is refused where nobody listens, and says where that was", async () => {
      const listener = await listen(secured, () => {})
      await listener.close()
      const error = await failure(nodeNetwork.connect(listener.at, secured))
      expect(error.code).toBe("Refused")
      expect(error.message).toContain(`cannot connect to 127.0.0.1:${listener.at.port}`)
    })

    test("to a name that nobody knows fails with UnknownHost", async () => {
      lookup((answer) => answer(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" })))
      const error = await failure(nodeNetwork.connect({ host: "nowhere.test", port: 1 }, secured))
      expect(error.code).toBe("UnknownHost")
    })

    test("to a port that cannot be fails with a NetworkError as well", async () => {
      expect((await failure(nodeNetwork.connect({ host: "127.0.0.1", port: 70_000 }, secured))).code).toBe(
        "Other",
      )
      expect((await failure(nodeNetwork.connect({ host: "", port: 1 }, secured))).message).toContain(
        "host must not be empty",
      )
    })

    test("gives up after its timeout", async () => {
      lookup(() => {})
      const error = await failure(
        nodeNetwork.connect({ host: "silent.test", port: 1 }, { ...secured, timeoutMs: 5 }),
      )
      expect(error.code).toBe("TimedOut")
      expect(error.message).toContain("no answer within 5 ms")
    })

    test("stops when it is cancelled", async () => {
      lookup(() => {})
      const caller = new AbortController()
      const connecting = failure(
        nodeNetwork.connect({ host: "silent.test", port: 1 }, { ...secured, signal: caller.signal }),
      )
      caller.abort("enough")
      expect(await connecting).toMatchObject({ code: "Cancelled", cause: "enough" })
    })

    test("does not begin when it is cancelled already", async () => {
      const resolver = lookup(() => {})
      const error = await failure(
        nodeNetwork.connect({ host: "silent.test", port: 1 }, { ...secured, signal: AbortSignal.abort() }),
      )
      expect(error.code).toBe("Cancelled")
      expect(resolver).not.toHaveBeenCalled()
    })

    test("lets go of the signal and the timer once it is connected", async () => {
      const caller = new AbortController()
      const cancel = vi.fn()
      vi.spyOn(nodeClock, "setTimer").mockReturnValue({ cancel })
      await pair({ ...secured, signal: caller.signal })
      expect(getEventListeners(caller.signal, "abort")).toEqual([])
      expect(cancel).toHaveBeenCalled()
    })

    test("a timeout that is no number is an assertion", async () => {
      await expect(nodeNetwork.connect(anyPort, { ...secured, timeoutMs: Number.NaN })).rejects.toThrow(
        /finite/,
      )
    })
  })
})

async function listen(options: ListenOptions, accept: (connection: Connection) => void): Promise<Listener> {
  const listener = await nodeNetwork.listen(anyPort, accept, options)
  started.push(() => listener.close())
  return listener
}

/** A connection, seen from both of its sides. */
async function pair(options: ConnectOptions): Promise<[client: Connection, server: Connection, Listener]> {
  let accept: (connection: Connection) => void = () => {}
  const accepted = new Promise<Connection>((resolve) => {
    accept = resolve
  })
  const listener = await listen({ tls: options.tls }, accept)
  const [client, server] = await Promise.all([nodeNetwork.connect(listener.at, options), accepted])
  started.push(
    () => client.destroy(),
    () => server.destroy(),
  )
  return [client, server, listener]
}

async function failure(attempt: Promise<unknown>): Promise<NetworkError> {
  const error = await attempt.then(
    () => expect.unreachable("it should have failed"),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(NetworkError)
  return error as NetworkError
}

function lookup(resolve: (answer: (error: Error) => void) => void) {
  return vi.spyOn(dns, "lookup").mockImplementation(((_host: string, _options: unknown, answer: never) => {
    resolve(answer)
  }) as never)
}

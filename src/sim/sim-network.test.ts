import { describe, expect, test } from "vitest"
import { endpointOf, SmallWorld, text, Witness } from "../../test/sim/small-world.js"
import type { Connection } from "../ports/network.js"

const accepted = () => {}

describe("listening", () => {
  test("at port 0 chooses a free port", async () => {
    const small = new SmallWorld()
    await small.on("beta", async (beta) => {
      const first = await beta.ports.network.listen(endpointOf(beta, 0), accepted)
      const next = await beta.ports.network.listen(endpointOf(beta, first.at.port + 1), accepted)
      const last = await beta.ports.network.listen(endpointOf(beta, 0), accepted)
      expect(first.at.host).toBe(beta.machine.host)
      expect(first.at.port).toBeGreaterThan(0)
      expect(new Set([first, next, last].map(({ at }) => at.port)).size).toBe(3)
    })
  })

  test("twice at one address is refused, until the first is closed", async () => {
    const small = new SmallWorld()
    await small.on("beta", async (beta) => {
      const at = endpointOf(beta, 7_000)
      const first = await beta.ports.network.listen(at, accepted)
      await expect(beta.ports.network.listen(at, accepted)).rejects.toMatchObject({
        name: "NetworkError",
        code: "AddressInUse",
      })
      await first.close()
      await beta.ports.network.listen(at, accepted)
    })
  })

  test("at the same port on two machines is allowed", async () => {
    const small = new SmallWorld()
    for (const name of ["alpha", "beta"]) {
      await small.on(name, (proc) => proc.ports.network.listen(endpointOf(proc, 7_000), accepted))
    }
  })

  test("closing a listener twice does not affect the next one", async () => {
    const small = new SmallWorld()
    await small.on("beta", async (beta) => {
      const at = endpointOf(beta, 7_000)
      const first = await beta.ports.network.listen(at, accepted)
      await first.close()
      await beta.ports.network.listen(at, accepted)
      await first.close()
      await expect(beta.ports.network.listen(at, accepted)).rejects.toMatchObject({ code: "AddressInUse" })
    })
  })

  test("ends with the process, and the next process may listen there again", async () => {
    const small = new SmallWorld()
    const listen = () =>
      small.on("beta", (beta) => beta.ports.network.listen(endpointOf(beta, 7_000), accepted))
    await listen()
    small.world.crash("beta")
    small.world.boot("beta")
    await listen()
  })
})

describe("connecting", () => {
  test("gives two ends that know each other's addresses", async () => {
    const { near, far } = await new SmallWorld().connected()
    expect(near.connection.remote).toEqual(far.connection.local)
    expect(near.connection.local).toEqual(far.connection.remote)
    expect(far.connection.local.port).toBe(7_000)
  })

  test("two connections have different ports of their own", async () => {
    const small = new SmallWorld()
    const first = await small.connected()
    const second = await small.connected()
    expect(first.near.connection.local).not.toEqual(second.near.connection.local)
  })

  test("takes time in both directions", async () => {
    const small = new SmallWorld()
    const begun = small.world.now
    await small.connected()
    expect(small.world.now - begun).toBeGreaterThanOrEqual(200)
  })

  test("to a port without a listener is refused", async () => {
    const small = new SmallWorld()
    await expect(connectToBeta(small)).rejects.toMatchObject({ name: "NetworkError", code: "Refused" })
  })

  test("to a closed listener is refused, and its accepted connections continue", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await expect(connectToBeta(small)).rejects.toMatchObject({ code: "Refused" })
    await small.on("alpha", () => near.connection.write(text("still here")))
    await small.run()
    expect(far.text).toBe("still here")
  })

  test("to a machine that is down is refused", async () => {
    const small = new SmallWorld()
    await listening(small)
    const { host } = small.process("beta").machine
    small.world.crash("beta")
    await expect(connectToBeta(small, {}, host)).rejects.toMatchObject({ code: "Refused" })
  })

  test("through a partition times out after the requested time", async () => {
    for (const [from, to] of [
      ["alpha", "beta"],
      ["beta", "alpha"],
    ] as const) {
      const small = new SmallWorld()
      await listening(small)
      small.world.cut(from, to)
      const begun = small.world.now
      await expect(connectToBeta(small, { timeoutMs: 1_500 })).rejects.toMatchObject({ code: "TimedOut" })
      expect(small.world.now - begun).toBe(1_500_000)
    }
  })

  test("times out after ten seconds by default", async () => {
    const small = new SmallWorld()
    await listening(small)
    small.world.cut("alpha", "beta")
    const begun = small.world.now
    await expect(connectToBeta(small)).rejects.toMatchObject({ code: "TimedOut" })
    expect(small.world.now - begun).toBe(10_000_000)
  })

  test("may hang, or be refused, if these faults are enabled", async () => {
    const codes = new Map<string, number>()
    for (let seed = 0; seed < 100; seed += 1) {
      const small = new SmallWorld({ seed, faults: { "hanging-connect": 1, "refused-connect": 1 } })
      await listening(small)
      const code = await connectToBeta(small).then(
        () => "connected",
        (error) => error.code,
      )
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
    expect([...codes.keys()].sort()).toEqual(["Refused", "TimedOut", "connected"])
    expect(Math.min(...codes.values())).toBeGreaterThan(5)
  })

  test("is cancelled by its signal, before the call and during it", async () => {
    const small = new SmallWorld()
    await listening(small)
    small.world.cut("alpha", "beta")
    await expect(connectToBeta(small, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "Cancelled",
    })
    const controller = new AbortController()
    small.process("alpha").later(50_000, "cancel", () => controller.abort())
    const begun = small.world.now
    await expect(connectToBeta(small, { signal: controller.signal })).rejects.toMatchObject({
      code: "Cancelled",
    })
    expect(small.world.now - begun).toBe(50_000)
  })

  test("that is cancelled too late: the other side has its connection reset", async () => {
    const small = new SmallWorld()
    const served = await listening(small)
    const controller = new AbortController()
    const outcome = connectToBeta(small, { signal: controller.signal })
    outcome.catch(() => {})
    await small.run(() => served.length === 1)
    controller.abort()
    await expect(outcome).rejects.toMatchObject({ code: "Cancelled" })
    await small.run()
    expect(served.map(({ told }) => told)).toEqual([["closed: Reset"]])
  })

  test("a process that dies while it connects leaves no open connection at the other side", async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const small = new SmallWorld({ seed })
      const served = await listening(small)
      connectToBeta(small).catch(() => {})
      await small.runFor(0.01 * seed)
      small.world.crash("alpha")
      await small.run()
      for (const { told } of served) expect(told, `seed ${seed}`).toEqual(["closed: Reset"])
    }
  })

  test("a connection to a listener that closes before it accepts is reset", async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const small = new SmallWorld({ seed })
      const beta = small.process("beta")
      const listener = await small.on("beta", () =>
        beta.ports.network.listen(endpointOf(beta, 7_000), accepted),
      )
      let near: Witness | undefined
      const alpha = small.process("alpha")
      const connect = async () => {
        near = new Witness(await alpha.ports.network.connect(listener.at), alpha)
        near.attach()
      }
      alpha.later(0, "task", () => void connect().catch(() => {}))
      await small.run(() => small.world.trace.tail.at(-1)?.includes("connect to") === true)
      await listener.close()
      await small.run()
      expect(near?.told, `seed ${seed}`).toEqual(["closed: Reset"])
    }
  })
})

test("TLS is refused, for a listener and for a connection", async () => {
  const small = new SmallWorld()
  const served = await listening(small)
  const tls = { cert: "", key: "" }
  const refusal = {
    name: "NetworkError",
    code: "NotPermitted",
    message: expect.stringContaining("leave `tls` out"),
  }
  await small.on("beta", async (beta) => {
    const network = beta.ports.network
    await expect(network.listen(endpointOf(beta, 0), accepted, { tls })).rejects.toMatchObject(refusal)
    await expect(network.connect(endpointOf(beta, 7_000), { tls })).rejects.toMatchObject(refusal)
  })
  await small.run()
  expect(served).toEqual([])
})

async function listening(small: SmallWorld): Promise<Witness[]> {
  const served: Witness[] = []
  await small.on("beta", (beta) =>
    beta.ports.network.listen(endpointOf(beta, 7_000), (connection) => {
      const witness = new Witness(connection, beta)
      witness.attach()
      served.push(witness)
    }),
  )
  return served
}

function connectToBeta(
  small: SmallWorld,
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
  host = small.process("beta").machine.host,
): Promise<Connection> {
  return small.on("alpha", ({ ports }) => ports.network.connect({ host, port: 7_000 }, options))
}

import { afterEach, describe, expect, it } from "vitest"
import {
  ActorSystem,
  type ActorSystemSettings,
  consoleLogger,
  type Logger,
  SettingsError,
} from "../../src/index.js"
import { ca, node as certified } from "../certificates/certificates.js"

const SECRET = "0123456789abcdef"
const started: ActorSystem[] = []

afterEach(async () => {
  for (const system of started.splice(0)) await system.stop()
})

describe("a listener that others can reach", () => {
  it.each([
    ["all addresses", "0.0.0.0"],
    ["all IPv6 addresses", "::"],
    ["all IPv6 addresses, in brackets", "[::]"],
    ["an address of a network", "192.168.1.1"],
    ["a name", "node.example.org"],
    ["a name that only begins as this machine's", "localhost.example.org"],
    ["an address that only begins as loopback", "127.0.0.1.example.org"],
    ["an IPv6 address", "fe80::1"],
    ["an IPv4 address in IPv6", "::ffff:192.168.1.1"],
  ])("does not start at %s with neither a secret nor mutual TLS", async (_, host) => {
    const error = await refused({ listen: { host, port: 0 }, advertise: { host: "node.example.org" } })
    expect(error.field).toBe("listen.secret")
    expect(error.message).toContain(host)
  })

  it("does not start with TLS that requests no certificate", async () => {
    const tls = { ...certified, ca }
    const error = await refused({
      listen: { host: "0.0.0.0", port: 0, tls },
      advertise: { host: "localhost" },
    })
    expect(error.field).toBe("listen.secret")
    const lax = await refused({
      listen: { host: "0.0.0.0", port: 0, tls: { ...tls, mutual: false } },
      advertise: { host: "localhost" },
    })
    expect(lax.field).toBe("listen.secret")
  })

  it("starts with a secret", async () => {
    const system = await start({
      listen: { host: "0.0.0.0", port: 0, secret: SECRET },
      advertise: { host: "node.example.org" },
    })
    expect(system.address.host).toBe("node.example.org")
  })

  it("starts at an IPv6 address as orchestrators name it, without brackets", async () => {
    const system = await start({
      listen: { host: "0.0.0.0", port: 0, secret: SECRET },
      advertise: { host: "fd00:0:0::7" },
    })
    expect(system.address.host).toBe("[fd00::7]")
  })

  it("starts with mutual TLS", async () => {
    const system = await start({
      listen: { host: "0.0.0.0", port: 0, tls: { ...certified, ca, mutual: true } },
      advertise: { host: "localhost" },
    })
    expect(system.address.host).toBe("localhost")
  })

  it.each(["0.0.0.0", "::", "[::]"])(
    "does not start at %s unless it says which address others use",
    async (host) => {
      const error = await refused({ listen: { host, port: 0, secret: SECRET } })
      expect(error.field).toBe("advertise.host")
      // The port that it had bound is free again.
      const probe = await start({ listen: { host: "127.0.0.1", port: 0 } })
      expect(probe.node).toBeDefined()
    },
  )
})

describe("traffic on the network", () => {
  const unencrypted = "connections between nodes are not encrypted"
  const everywhere = { host: "0.0.0.0", port: 0, secret: SECRET }
  it.each([
    ["beyond loopback without TLS", { listen: everywhere, advertise: { host: "localhost" } }, 1],
    ["on loopback", { listen: { host: "127.0.0.1", port: 0, secret: SECRET } }, 0],
    [
      "beyond loopback with TLS",
      {
        listen: { ...everywhere, tls: { ...certified, ca, mutual: true } },
        advertise: { host: "localhost" },
      },
      0,
    ],
  ])("%s: the log says once that it is not encrypted, or not at all", async (_, settings, times) => {
    const lines: string[] = []
    const logger: Logger = {
      enabled: () => true,
      log: (level, message) => lines.push(`${level} ${message}`),
      with: () => logger,
    }
    await start({ ...settings, logger })
    expect(lines.filter((line) => line.startsWith(`warn ${unencrypted}`))).toHaveLength(times)
    expect(lines.join()).toContain("listening for other nodes")
  })
})

describe("a listener that only this machine can reach", () => {
  it.each(["127.0.0.1", "127.1.2.3", "localhost"])("starts at %s without a secret", async (host) => {
    const system = await start({ listen: { host, port: 0 } })
    expect(system.address.host).toBe(host)
    expect(system.address.port).toBeGreaterThan(0)
  })
})

describe("a secret", () => {
  it.each([
    ["shorter than 16 characters", "fifteen letters"],
    ["empty", ""],
    ["no text", 1234567890123456],
    ["null", null],
    ["of one character", "a".repeat(64)],
    ["of 16 spaces", " ".repeat(16)],
    ["of 9 different characters", "123456789".repeat(3)],
    ["one in a list", ["0123456789abcdef"]],
    ["the same twice", ["0123456789abcdef", "0123456789abcdef"]],
    ["three", ["0123456789abcdef", "0123456789abcdeg", "0123456789abcdeh"]],
    ["a poor one behind a good one", ["0123456789abcdef", "aaaaaaaaaaaaaaaaa"]],
  ])("that is %s is refused, and not shown", async (_, secret) => {
    const error = await refused({ listen: { host: "127.0.0.1", port: 0, secret: secret as string } })
    expect(error.field).toMatch(/^listen\.secret(\[[01]\])?$/)
    for (const part of [secret].flat()) {
      if (part === "" || part === null) continue
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(String(part))
    }
  })

  it("that is weak is refused with the rule, and with how to generate a strong one", async () => {
    const error = await refused({ listen: { host: "127.0.0.1", port: 0, secret: "ab".repeat(10) } })
    expect(error.message).toBe(
      'listen.secret must have at least 16 characters, 10 of them different (got 20, 2 different); make one with "openssl rand -base64 32"',
    )
  })

  it("may be a pair", async () => {
    const system = await start({
      listen: { host: "127.0.0.1", port: 0, secret: [SECRET, "fedcba9876543210"] },
    })
    expect(system.node).toBeDefined()
  })

  it("is not part of the error of another wrong setting", async () => {
    const error = await refused({ listen: { host: "127.0.0.1", port: -1, secret: SECRET } })
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(SECRET)
  })
})

describe("other settings", () => {
  const listen = { host: "127.0.0.1", port: 0 }
  const wrong: [field: string, settings: object][] = [
    ["listen.host", { listen: { host: "", port: 0 } }],
    ["listen.host", { listen: { port: 0 } }],
    ["listen.port", { listen: { host: "127.0.0.1", port: 65_536 } }],
    ["listen.port", { listen: { host: "127.0.0.1", port: 1.5 } }],
    ["listen.port", { listen: { host: "127.0.0.1", port: "0" } }],
    ["listen.prot", { listen: { ...listen, prot: 1 } }],
    ["listen", { listen: "127.0.0.1:0" }],
    ["listen", { listen: null }],
    ["listen.tls", { listen: { ...listen, tls: "yes" } }],
    ["listen.tls.cert", { listen: { ...listen, tls: { key: certified.key } } }],
    ["listen.tls.key", { listen: { ...listen, tls: { cert: certified.cert } } }],
    ["listen.tls.ca", { listen: { ...listen, tls: { ...certified, ca: "" } } }],
    ["listen.tls.ca", { listen: { ...listen, tls: { ...certified, mutual: true } } }],
    ["listen.tls.passphrase", { listen: { ...listen, tls: { ...certified, passphrase: "x" } } }],
    ["advertise.host", { listen, advertise: { host: "no host" } }],
    ["advertise.host", { listen, advertise: { host: "" } }],
    ["advertise.port", { listen, advertise: { port: 0 } }],
    ["advertise.name", { listen, advertise: { name: "x" } }],
    ["maxMessageBytes", { maxMessageBytes: 0 }],
    ["maxMessageBytes", { maxMessageBytes: 4_095 }],
    ["maxMessageBytes", { maxMessageBytes: 2 ** 30 + 1 }],
    ["maxMessageBytes", { maxMessageBytes: 1.5 }],
    ["maxMessageBytes", { maxMessageBytes: Number.POSITIVE_INFINITY }],
    ["deferred.perAuthority", { deferred: { perAuthority: 0 } }],
    ["deferred.total", { deferred: { total: -1 } }],
    ["deferred.most", { deferred: { most: 1 } }],
    ["reconnect.fromMs", { reconnect: { fromMs: 0 } }],
    ["reconnect.toMs", { reconnect: { fromMs: 10, toMs: 5 } }],
    ["reconnect.toMs", { reconnect: { toMs: Number.NaN } }],
    ["outboundBuffer.bytes", { outboundBuffer: { bytes: 0 } }],
    ["outboundBuffer.overflow", { outboundBuffer: { overflow: "block" } }],
    ["quarantineMs", { quarantineMs: 999 }],
    ["keepAlive.intervalMs", { keepAlive: { intervalMs: 0 } }],
    ["keepAlive.timeoutMs", { keepAlive: { intervalMs: 1_000, timeoutMs: 1_999 } }],
    ["unreachableAfterMs", { unreachableAfterMs: -1 }],
    ["codec", { codec: "json" }],
    ["types", { types: [{}] }],
    ["types", { types: [Date] }],
    ["types", { types: [class A {}, class A {}] }],
    ["types", { types: 1 }],
    ["secret", { secret: SECRET }],
  ]
  it.each(wrong)("names %s in what it says about %j", async (field, settings) => {
    expect((await refused(settings as Partial<ActorSystemSettings>)).field).toBe(field)
  })

  it("names the wrong certificate, and does not quote the key", async () => {
    const tls = { cert: certified.cert, key: "no key at all" }
    const failed = await ActorSystem.start({ namespace: "set", listen: { ...listen, tls } }).then(
      (system) => started.push(system),
      (error: unknown) => error as Error,
    )
    expect(failed).toBeInstanceOf(Error)
    expect(String((failed as Error).message)).toContain("tls.key")
    expect(String((failed as Error).stack)).not.toContain("no key at all")
  })

  it("accepts the smallest value of every setting", async () => {
    const system = await start({
      listen,
      maxMessageBytes: 4_096,
      deferred: { perAuthority: 1, total: 1 },
      reconnect: { fromMs: 1, toMs: 1 },
      outboundBuffer: { bytes: 1, overflow: "drop-oldest" },
      quarantineMs: 1_000,
      keepAlive: { intervalMs: 1, timeoutMs: 2 },
      unreachableAfterMs: 1,
    })
    expect(system.node).toBeDefined()
  })
})

async function start(settings: Partial<ActorSystemSettings>): Promise<ActorSystem> {
  const system = await ActorSystem.start({
    namespace: "set",
    logger: consoleLogger({ level: "error" }),
    ...settings,
  })
  started.push(system)
  return system
}

async function refused(settings: Partial<ActorSystemSettings>): Promise<SettingsError> {
  const outcome = await start(settings).catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(SettingsError)
  return outcome as SettingsError
}

import { describe, expect, it, onTestFinished } from "vitest"
import { Actor, ActorSystem, type ActorSystemSettings, jsonCodec, SettingsError } from "../../src/index.js"
import type { StoreProvider } from "../../src/ports/store.js"
import { compareTerms, encodeClusterTerms } from "../../src/registry/cluster-terms.js"
import { joinCommit } from "../../src/registry/commits.js"
import { encodeTerms } from "../../src/registry/lease-terms.js"
import { PROTOCOL_VERSION } from "../../src/remote/frames.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ca, node as certified } from "../certificates/certificates.js"

const OLD = "the secret that was, long enough"
const NEW = "the secret to be, long enough too"

class Counter extends Actor<{ count: number }> {
  protected override initialState() {
    return { count: 0 }
  }

  async add() {
    this.state.count += 1
    await this.save()
    return this.state.count
  }
}

describe("a node whose settings contradict the cluster of its store", () => {
  const misfits: [what: string, settings: Partial<ActorSystemSettings>, field: string, problem: string][] = [
    ["has another secret", { listen: listening(NEW) }, "listen.secret", "must be the secret of the nodes"],
    ["has no secret", { listen: listening() }, "listen.secret", "have a secret; set the same here"],
    ["has another codec", { codec: jsonCodec() }, "codec", "must be troupe-binary-1, as on"],
    ["does not listen", { listen: undefined as never }, "listen", "must be set, as the nodes of the cluster"],
    [
      "uses TLS though the others do not",
      { listen: { ...listening(OLD), tls: { ...certified, ca, mutual: true } } },
      "listen.tls",
      "do not use TLS",
    ],
    [
      "hosts no actors, and has another secret",
      { listen: listening(NEW), actors: [] },
      "listen.secret",
      "must be the secret",
    ],
  ]
  it.each(misfits)(
    "and %s fails to start with a SettingsError, and does not join",
    async (_, settings, field, problem) => {
      const store = memoryStore()
      const home = await start(store)
      const failed = await start(store, settings).catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(SettingsError)
      expect((failed as SettingsError).field).toBe(field)
      expect((failed as SettingsError).message).toContain(problem)
      for (const secret of [OLD, NEW]) expect(String(failed)).not.toContain(secret)
      expect(home.cluster.members).toHaveLength(1)
      for (let key = 0; key < 20; key += 1) expect(await home.actor(Counter, `k${key}`).add()).toBe(1)
    },
  )

  it("and listens fails to start if the existing node does not listen", async () => {
    const store = memoryStore()
    await start(store, { listen: undefined as never })
    await expect(start(store)).rejects.toMatchObject({ field: "listen" })
  })

  it("fails to start if the cluster has an unknown version", async () => {
    const store = memoryStore()
    await start(store)
    await put(store, "cluster", Buffer.from("whatever comes after this version"))
    await expect(start(store)).rejects.toMatchObject({ field: "store" })
  })
})

describe("the secret of a cluster", () => {
  it("can be changed in two rolling restarts, after which the old one is refused", async () => {
    const store = memoryStore()
    const nodes = [await start(store), await start(store)]
    let count = 0
    for (const secret of [[NEW, OLD], NEW] as const) {
      for (const place of [0, 1]) {
        await nodes[place]?.stop()
        nodes[place] = await start(store, { listen: listening(secret) })
        for (const node of nodes) {
          count += 1
          expect(await node.actor(Counter, "kept").add()).toBe(count)
        }
      }
    }
    await expect(start(store)).rejects.toMatchObject({ field: "listen.secret" })
  })

  it("is refused alone while a node still has only the previous one", async () => {
    const store = memoryStore()
    const last = await start(store)
    await start(store, { listen: listening([NEW, OLD]) })
    const refused = await start(store, { listen: listening(NEW) }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ field: "listen.secret" })
    expect(String(refused)).toContain(`the node at ${last.address.authority} has no secret in common`)
    await last.stop()
    await start(store, { listen: listening(NEW) })
  })

  it.each([
    ["secret", { listen: listening(NEW) }],
    ["codec", { codec: jsonCodec() }],
    ["listen setting", { listen: undefined as never }],
  ])("may be replaced by another %s at once when all nodes have stopped", async (_, settings) => {
    const store = memoryStore()
    await (await start(store)).stop()
    const next = await start(store, settings)
    expect(await next.actor(Counter, "new").add()).toBe(1)
    await expect(start(store)).rejects.toBeInstanceOf(SettingsError)
  })

  it("may be replaced when all nodes have crashed, once their leases were observed to expire", async () => {
    const store = memoryStore()
    await (await start(store)).stop()
    const dead = "127.0.0.1:9#00000000000000d1"
    const record = { status: "active", roles: [], types: ["Counter"], lifeline: undefined } as const
    const { writes } = joinCommit(dead, record, encodeTerms({ ttlMs: 200, driftMargin: 0.1 }))
    for (const write of writes) if (write.kind === "put") await put(store, write.key, write.value)
    const before = performance.now()
    const next = await start(store, { listen: listening(NEW) })
    expect(performance.now() - before).toBeGreaterThan(200)
    expect(await next.actor(Counter, "new").add()).toBe(1)
  })
})

describe("the terms of a cluster", () => {
  const terms = { version: 2, codec: "c", transport: "tcp", secrets: ["a", "b"] } as const

  it.each([
    ["are written if none are stored", terms, undefined, "write"],
    ["fit if the same are stored", terms, terms, "fits"],
    ["fit if the same secrets are stored in another order", terms, { ...terms, secrets: ["b", "a"] }, "fits"],
    ["are written if one secret of two is stored", terms, { ...terms, secrets: ["b"] }, "write"],
    ["are written if each side has one other secret", terms, { ...terms, secrets: ["b", "c"] }, "write"],
    ["contradict if none of the secrets is stored", terms, { ...terms, secrets: ["c", "d"] }, "misfit"],
    ["fit if neither side has a secret", { ...terms, secrets: [] }, { ...terms, secrets: [] }, "fits"],
    ["contradict if another version is stored", terms, { ...terms, version: 3 }, "misfit"],
    ["contradict if the stored value cannot be read", terms, null, "misfit"],
  ] as const)("%s", (_, own, there, kind) => {
    expect(compareTerms(own, there).kind).toBe(kind)
  })

  it("are stored with a fingerprint and not the secret", async () => {
    const store = memoryStore()
    await start(store)
    const handle = await store.open("misfits", nodePorts())
    const text = Buffer.from((await handle.get("cluster")).entry?.value ?? []).toString()
    await handle.close()
    const { secrets, ...rest } = JSON.parse(text) as { secrets: string[] }
    expect(rest).toEqual({ version: PROTOCOL_VERSION, codec: "troupe-binary-1", transport: "tcp" })
    expect(secrets).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(encodeClusterTerms({ ...terms, secrets })).toBeInstanceOf(Uint8Array)
  })
})

function listening(secret?: string | readonly [string, string]) {
  return { host: "127.0.0.1", port: 0, ...(secret === undefined ? {} : { secret }) }
}

async function start(
  store: StoreProvider,
  settings: Partial<ActorSystemSettings> = {},
): Promise<ActorSystem> {
  const { listen = "listen" in settings ? undefined : listening(OLD), ...others } = settings
  const system = await ActorSystem.start({
    namespace: "misfits",
    actors: [Counter],
    lease: { ttlMs: 1_500, deathProof: false },
    logger: quiet,
    ...others,
    store,
    ...(listen === undefined ? {} : { listen }),
  })
  onTestFinished(() => system.stop())
  return system
}

async function put(store: StoreProvider, key: string, value: Uint8Array): Promise<void> {
  const handle = await store.open("misfits", nodePorts())
  const { epoch } = await handle.get(key)
  await handle.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value }] })
  await handle.close()
}

const quiet: NonNullable<ActorSystemSettings["logger"]> = {
  enabled: () => false,
  log: () => {},
  with: () => quiet,
}

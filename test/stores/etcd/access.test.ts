import { expect, it } from "vitest"
import { describeWith, isFull } from "../../../tools/engines/engine-tests.js"
import { serverTls, tlsFiles } from "../../../tools/engines/server-tls.js"
import { committed, creating, epochOf, Load, opened, outcome, putting, serverOf } from "./opened-stores.js"

await describeWith("etcd", "access to etcd", () => {
  it("rejects at once if there is no server, and says where none is", async () => {
    const since = performance.now()
    const opening = opened({ endpoints: ["127.0.0.1:1", "http://127.0.0.1:2"] })
    await expect(opening).rejects.toThrow(
      /etcd at http:\/\/127\.0\.0\.1:[12] cannot be reached \(connect ECONNREFUSED/,
    )
    expect(await outcome(opening)).toBe("not-committed: unreachable")
    expect(performance.now() - since).toBeLessThan(2_000)
  })

  if (!isFull) return

  it("authenticates, and does so again when its token is no longer valid", async () => {
    const server = await serverOf({ authentication: true })
    const { user, password, url } = server
    const store = await opened({ endpoints: url, auth: { user, password } })
    const epoch = await epochOf(store)
    const seen: string[] = []
    let told = () => {}
    const watcher = {
      changed: (changes: readonly { readonly key: string }[]) => {
        for (const { key } of changes) seen.push(key)
        told()
      },
      gap: () => {
        seen.push("gap")
        told()
      },
    }
    store.watch("wards/", await store.list("wards/"), watcher)
    await committed(store.commit(creating(epoch, "wards/a")))
    for (const key of ["wards/b", "wards/c"]) {
      // All tokens end with this.
      await server.etcdctl("auth", "disable")
      await server.etcdctl("auth", "enable", "--user=")
      await Promise.all([
        committed(store.commit(creating(epoch, key))),
        committed(store.commit(creating(epoch, `state/of-${key}`))),
        store.get("state/a"),
      ])
    }
    while (!seen.includes("wards/c")) {
      await new Promise<void>((resolve) => {
        told = resolve
      })
    }
    expect(seen).toEqual(["wards/a", "wards/b", "wards/c"])
  })

  it("renews tokens that expire while they are used", async () => {
    const { key, cert } = tlsFiles
    const flags = [`--auth-token=jwt,sign-method=ES256,pub-key=${cert},priv-key=${key},ttl=1s`]
    const server = await serverOf({ authentication: true, flags })
    const { user, password, url } = server
    const store = await opened({ endpoints: url, auth: { user, password } })
    const from = await store.list("wards/")
    const load = await Load.start(store)
    const since = performance.now()
    while (performance.now() - since < 2_500) await load.more(50)
    const watched = () =>
      new Promise<string>((resolve) => {
        store.watch("wards/", from, {
          changed: (changes) => resolve(changes.map(({ key }) => key).join()),
          gap: () => resolve("gap"),
        })
      })
    await committed(store.commit(creating(from.epoch, "wards/a")))
    expect(await watched()).toBe("wards/a")
    while (performance.now() - since < 5_000) await load.more(50)
    // The stream of the watches has a token that has expired meanwhile.
    expect(await watched()).toBe("wards/a")
    expect(await load.stop()).toEqual([])
    expect([...load.failures]).toEqual([])
  })

  it("says that a password is wrong, that one is missing, and that a user lacks a permission", async () => {
    const server = await serverOf({ authentication: true })
    const { user, url: endpoints } = server
    expect(await outcome(opened({ endpoints }))).toBe("not-committed: refused-login")
    await expect(opened({ endpoints })).rejects.toThrow("set `auth`")
    const wrong = opened({ endpoints, auth: { user, password: "wrong" } })
    await expect(wrong).rejects.toThrow("check `auth`")
    expect(await outcome(wrong)).toBe("not-committed: refused-login")
    await server.etcdctl("user", "add", "guest", "--new-user-password=guest")
    const guest = { endpoints, auth: { user: "guest", password: "guest" } }
    await expect(opened(guest)).rejects.toThrow("grant the user a role")
    await server.etcdctl("role", "add", "troupe")
    await server.etcdctl("role", "grant-permission", "troupe", "--prefix=true", "readwrite", "troupe/")
    await server.etcdctl("user", "grant-role", "guest", "troupe")
    const store = await opened(guest)
    await committed(store.commit(creating(await epochOf(store), "wards/a")))
    await server.etcdctl("user", "revoke-role", "guest", "troupe")
    const epoch = "any"
    expect(await outcome(store.commit(putting(epoch, "state/a")))).toBe("not-committed: refused-login")
    expect(await outcome(store.get("state/a"))).toBe("not-committed: refused-login")
  })

  it("ignores a user and a password where etcd asks for none", async () => {
    const server = await serverOf()
    const store = await opened({ endpoints: server.url, auth: { user: "a", password: "b" } })
    await committed(store.commit(creating(await epochOf(store), "state/a")))
  })

  it("connects with TLS, and says that a server is not trusted or does not use it", async () => {
    const server = await serverOf({ tls: true })
    const { ca } = serverTls
    const store = await opened({ endpoints: server.url, tls: { ca } })
    await committed(store.commit(creating(await epochOf(store), "state/a")))
    const untrusting = opened({ endpoints: server.url })
    await expect(untrusting).rejects.toThrow("`tls.ca`")
    expect(await outcome(untrusting)).toBe("not-committed: refused-login")
    const renamed = opened({ endpoints: server.url, tls: { ca, serverName: "elsewhere.example" } })
    expect(await outcome(renamed)).toBe("not-committed: refused-login")
    const plain = opened({ endpoints: server.url.replace("https", "http") })
    await expect(plain).rejects.toThrow("http:// or https://")
    expect(await outcome(plain)).toBe("not-committed: unreachable")
  })

  it("shows its certificate to a server that asks for one, and says that one is missing", async () => {
    const flags = ["--client-cert-auth", `--trusted-ca-file=${tlsFiles.ca}`]
    const server = await serverOf({ tls: true, flags })
    const { ca, cert, key } = serverTls
    const store = await opened({ endpoints: server.url, tls: { ca, cert, key } })
    await committed(store.commit(creating(await epochOf(store), "state/a")))
    expect(await outcome(opened({ endpoints: server.url, tls: { ca } }))).toBe("not-committed: refused-login")
  })
})

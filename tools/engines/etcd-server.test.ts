import { expect, it, onTestFinished } from "vitest"
import { describeWith, isFull } from "./engine-tests.js"
import { EtcdCluster } from "./etcd-cluster.js"
import { type EtcdOptions, EtcdServer } from "./etcd-server.js"

await describeWith("etcd", "etcd", () => {
  it("keeps what was committed when it is killed, and stops and starts on its port", async () => {
    const server = await started()
    await server.etcdctl("put", "a", "1")
    await server.kill()
    expect([server.isRunning, await server.isHealthy()]).toEqual([false, false])
    await server.restart()
    await server.restart()
    expect(await server.etcdctl("get", "a", "--print-value-only")).toBe("1\n")
  })

  if (!isFull) return

  it("does not answer while it is paused", async () => {
    const server = await started()
    await server.pause()
    expect(await server.isHealthy()).toBe(false)
    await server.resume()
    expect(await server.isHealthy()).toBe(true)
  })

  it("is restored from a snapshot, with TLS and passwords", async () => {
    const server = await started({ tls: true, authentication: true })
    await server.etcdctl("put", "a", "1")
    const snapshot = await server.snapshot()
    const before = await server.revision()
    await server.etcdctl("put", "a", "2")
    const restored = await EtcdServer.restored(snapshot)
    onTestFinished(() => restored.remove())
    snapshot.remove()
    expect(await restored.etcdctl("get", "a", "--print-value-only")).toBe("1\n")
    expect(await restored.revision()).toBe(before)
  })

  it("discards old revisions", async () => {
    const server = await started()
    await server.etcdctl("put", "a", "1")
    await server.etcdctl("put", "a", "2")
    const revision = await server.revision()
    await server.compact()
    await expect(server.etcdctl("get", "a", `--rev=${revision - 1}`)).rejects.toThrow("compacted")
  })

  it("has another leader when the leader of three is killed", async () => {
    const cluster = await EtcdCluster.start()
    onTestFinished(() => cluster.remove())
    const leader = await cluster.leader()
    await leader.etcdctl("put", "a", "1")
    await leader.kill()
    const [other] = cluster.members.filter((member) => member !== leader)
    expect(await other?.etcdctl("get", "a", "--print-value-only", "--command-timeout=30s")).toBe("1\n")
    expect(await cluster.leader()).not.toBe(leader)
    await leader.restart()
    expect(await leader.isLeader()).toBe(false)
  })
})

async function started(options: EtcdOptions = {}): Promise<EtcdServer> {
  const server = await EtcdServer.start(options)
  onTestFinished(() => server.remove())
  return server
}

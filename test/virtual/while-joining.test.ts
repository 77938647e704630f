import { createServer } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { Actor, type StoreProvider } from "../../src/index.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { freshNode, RawPeer } from "../remote/support/raw-peer.js"
import { until } from "../remote/support/until.js"
import { SECRET } from "../remote/support/watched-node.js"
import { name, oneWay, payloadOf, request } from "../remote/support/wire.js"
import { Gate } from "./scene.js"

class Clerk extends Actor<number> {
  static readonly type = "Clerk"

  work() {
    return "done"
  }
}

test("messages to a node whose join is not confirmed yet break no connection", async () => {
  const confirmed = new Gate()
  const joining = new Gate()
  const store = heldJoin(confirmed.promise, joining.open)
  const opened = await store.open("test", nodePorts())
  const port = await freePort()
  const starting = ActorSystem.start(
    {
      namespace: "test",
      actors: [Clerk],
      listen: { host: "127.0.0.1", port, secret: SECRET },
      lease: { deathProof: false },
      store,
    },
    nodePorts(),
  )
  onTestFinished(async () => {
    confirmed.open()
    await (await starting).stop()
  })
  await joining.promise
  const node = { authority: `127.0.0.1:${port}`, namespace: "test", secret: SECRET }
  const self = freshNode()
  const peer = await RawPeer.admitted(node, { self, store: opened.identity })
  onTestFinished(() => peer.destroy())
  peer.send(name(0, `troupe.tcp://test@${node.authority}/system/actors`))
  peer.send(oneWay(0, payloadOf(["load", self.toString(), 3])))
  const answers = () => peer.messages.map(({ message }) => (message as { code: string }).code)
  // Refused like every call before the join; the second follows a refusal, though its key is invalid.
  for (const correlation of [1, 2]) {
    peer.send(request(0, correlation, payloadOf(["Clerk", "x".repeat(300), "work", []])))
    await until("it is answered", () => answers().length === correlation || peer.isClosed)
  }
  expect(peer.isClosed).toBe(false)
  expect(answers()).toEqual(["InvalidMessage", "InvalidMessage"])
  confirmed.open()
  const system = await starting
  expect(await system.actor(Clerk, "a").work()).toBe("done")
  peer.send(request(0, 3, payloadOf(["Clerk", "a", "work", []])))
  await until("it is answered", () => peer.messages.length === 3 || peer.isClosed)
  expect(peer.messages[2]?.message).toBe("done")
})

/** A store that commits the join at once and answers it late. */
function heldJoin(confirmed: Promise<void>, joining: () => void): StoreProvider {
  const provider = memoryStore()
  return {
    async open(namespace, ports) {
      const store = await provider.open(namespace, ports)
      return {
        identity: store.identity,
        get: (key) => store.get(key),
        list: (prefix, options) => store.list(prefix, options),
        watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
        close: () => store.close(),
        async commit(commit) {
          const result = await store.commit(commit)
          if (!commit.writes.some(({ key }) => key.startsWith("leases/"))) return result
          joining()
          await confirmed
          return result
        },
      }
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

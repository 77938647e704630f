import { once } from "node:events"
import { existsSync, watch } from "node:fs"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { dirname, join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { Program } from "../cluster/program.js"
import { compiledOnce } from "../compiled-once.js"
import { Received } from "../received.js"
import { within } from "../within.js"

it.runIf(existsSync("/proc/self/cwd"))(
  "ends a server and its children, halted as they are, and removes their folder when their owner is killed",
  async () => {
    const built = await compiledOnce({
      name: "engines",
      config: "tools/engines/tsconfig.json",
      sources: ["tools"],
    })
    const listener = createServer().listen(0, "127.0.0.1")
    onTestFinished(() => void listener.close())
    await once(listener, "listening")
    const connected = new Received<Socket>()
    const ended: Promise<unknown>[] = []
    listener.on("connection", (socket) => {
      ended.push(once(socket.on("error", () => {}).resume(), "close"))
      connected.add(socket)
    })
    const received = new Received<string>()
    const owner = new Program<string>(join(built, "tools/engines/programs/server-owner.js"), {
      args: [`${(listener.address() as AddressInfo).port}`],
      received: (message) => received.add(message),
    })
    onTestFinished(() => owner.kill())
    await connected.count("connections of the server", 2)
    owner.send("pause")
    const [, folder = ""] = await received.count("messages of the owner", 2)
    expect(existsSync(folder)).toBe(true)
    const changes = watch(dirname(folder))
    const removed = new Promise<void>((resolve) => {
      changes.on("change", () => {
        if (!existsSync(folder)) resolve()
      })
    })
    await owner.kill()
    await within(15_000, "both processes have ended", Promise.all(ended))
    await within(15_000, "the folder is removed", removed)
    changes.close()
  },
)

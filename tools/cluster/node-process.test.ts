import { once } from "node:events"
import { existsSync } from "node:fs"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { compiledOnce } from "../compiled-once.js"
import { Received } from "../received.js"
import { within } from "../within.js"
import { NodeProcess } from "./node-process.js"
import { stateOf } from "./process-state.js"
import { Program } from "./program.js"
import type { EchoCommands, EchoEvent, EchoOptions } from "./programs/echo-node.js"

const built = await compiledOnce({
  name: "cluster",
  config: "tools/cluster/tsconfig.json",
  sources: ["tools"],
})
const programFile = (name: string) => join(built, "tools/cluster/programs", `${name}.js`)

describe("a node in a process of its own", () => {
  it("is up when it has started, answers, reports, and stops", async () => {
    const { node, events, deaths } = await started()
    expect(node.state).toBe("up")
    const echoed = await Promise.all([node.call("echo", "one"), node.call("echo", "two")])
    expect(echoed).toEqual(["one", "two"])
    expect(events.items).toEqual([{ asked: "one" }, { asked: "two" }])
    await expect(node.call("fail", "too much")).rejects.toThrow("RangeError: too much")
    expect(await node.stop(10_000)).toBe(true)
    expect([node.state, node.pid, deaths.items]).toEqual(["ended", undefined, []])
  })

  it("is killed, and started again under its name", async () => {
    const { node, deaths } = await started()
    const { pid } = node
    const asked = node.call("hang")
    await node.kill()
    expect([node.state, node.pid]).toEqual(["killed", undefined])
    await expect(asked).rejects.toThrow("n1 ended: killed by SIGKILL.")
    await expect(node.call("echo", "too late")).rejects.toThrow("n1 is killed")
    await node.start({})
    expect(node.pid).not.toBe(pid)
    expect(await node.call("echo", "again")).toBe("again")
    expect(deaths.items).toEqual([])
  })

  it("is killed if it does not stop in time", async () => {
    const { node } = await started()
    await node.halt()
    expect(await node.stop(1)).toBe(false)
    expect(node.state).toBe("killed")
  })

  it("that ends by itself says how, with what it printed", async () => {
    const { node, deaths } = await started()
    await expect(node.call("exit", 7)).rejects.toThrow("n1 ended: exit code 7. it exits")
    expect(node.state).toBe("ended")
    expect(deaths.items).toEqual(["n1 ended by itself: exit code 7. it exits"])
  })

  it("that ends before it is up has not started", async () => {
    const { node, deaths } = nodeProcess()
    await expect(node.start({ exitCode: 5 })).rejects.toThrow(
      "n1 did not start: exit code 5. it cannot start",
    )
    expect([node.state, deaths.items]).toEqual(["ended", []])
  })

  it("can be killed while it starts", async () => {
    const { node } = nodeProcess()
    const starting = node.start({ hangs: true })
    const refused = expect(starting).rejects.toThrow("n1 did not start: killed by SIGKILL.")
    expect(node.state).toBe("starting")
    await expect(node.start({})).rejects.toThrow("n1 is starting; start it when it has ended")
    await node.kill()
    await refused
  })

  it.runIf(existsSync("/proc/self/task"))("runs no more while it is halted, and then goes on", async () => {
    const { node } = await started()
    await node.halt()
    expect([node.state, stateOf(node.pid as number)]).toEqual(["halted", "T"])
    const asked = node.call("echo", "hello")
    node.resume()
    expect(node.state).toBe("up")
    expect(await asked).toBe("hello")
  })
})

describe("a node ends with the process that started it", () => {
  it.each([
    ["is killed", "waits", "killed by SIGKILL"],
    ["is killed while the node is halted", "halted", "killed by SIGKILL"],
    ["exits", "exit", "exit code 3"],
    ["throws", "throw", "exit code 1"],
  ])("when that %s", async (_, how, ending) => {
    const { server, port } = await listening()
    const connected = once(server, "connection")
    const starter = new Program(programFile("starter"), { args: [`${port}`, how] })
    onTestFinished(() => starter.kill())
    const [socket] = (await within(15_000, "the node is connected", connected)) as [Socket]
    const closed = once(socket.on("error", () => {}).resume(), "close")
    await starter.untilItPrints("started", 15_000)
    if (ending.startsWith("killed")) starter.signal("SIGKILL")
    expect(await starter.ending).toBe(ending)
    await within(15_000, "the node has ended", closed)
  })
})

function nodeProcess() {
  const [events, deaths] = [new Received<EchoEvent>(), new Received<string>()]
  const node = new NodeProcess<EchoCommands, EchoEvent>("n1", {
    program: programFile("echo-node"),
    reported: (event) => events.add(event),
    died: (problem) => deaths.add(problem),
  })
  onTestFinished(() => node.kill())
  return { node, events, deaths }
}

async function started(options: EchoOptions = {}) {
  const made = nodeProcess()
  await made.node.start(options)
  return made
}

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  return { server, port: (server.address() as AddressInfo).port }
}

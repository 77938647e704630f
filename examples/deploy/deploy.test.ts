import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { SystemHealth } from "../../src/index.js"
import { FileLock } from "../../test/registry/file-lock.js"
import { Program } from "../../tools/cluster/program.js"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"

const built = await compiledOnce({
  name: "deploy",
  config: "examples/deploy/tsconfig.json",
  sources: ["examples/deploy", "src"],
})
const manifest = {
  name: "troupe",
  type: "module",
  exports: {
    ".": "./src/index.js",
    "./etcd": "./src/stores/etcd/index.js",
    "./postgres": "./src/stores/postgres/index.js",
    "./sqlite": "./src/stores/sqlite/index.js",
  },
}
writeFileSync(join(built, "package.json"), JSON.stringify(manifest))

const DEADLINE_MS = 30_000
const SECRET = "the secret that was, long enough"
const NEXT = "the secret to be, long enough too"

test("nodes are live at once, ready when they have joined, and stop while they are called without an error", async () => {
  const start = starter()
  const nodes = await Promise.all([start(), start(), start()])
  for (const node of nodes) {
    expect((await node.get("/live")).status).toBe(200)
    await node.isReady()
    const { status, text } = await node.get("/ready")
    expect([status, (JSON.parse(text) as SystemHealth).phase]).toEqual([200, "member"])
  }
  const [first, ...others] = nodes as [Node, Node, Node]
  let [counted, isOver] = [0, false]
  const calling = Promise.all(
    others.map(async (node) => {
      while (!isOver) {
        const { status, text } = await node.post("/count/a")
        expect([status, text]).toEqual([200, expect.stringMatching(/^\d+\n$/)])
        counted += 1
      }
    }),
  )
  const last = Array.from({ length: 20 }, (_, key) => first.post(`/count/k${key}`))
  // The requests that have arrived are answered before the node stops. Connections that the server has not
  // accepted by then are reset.
  const settled = Promise.allSettled(last)
  await last[0]
  first.program.signal("SIGTERM")
  expect(await first.program.ending).toBe("exit code 0")
  const answers = await settled
  expect(answers.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0)
  for (const answer of answers) {
    if (answer.status === "fulfilled") expect(answer.value).toEqual({ status: 200, text: "1\n" })
  }
  isOver = true
  await calling
  expect((await others[0].post("/count/a")).text).toBe(`${counted + 1}\n`)
  const named = { "idempotency-key": "7b1c" }
  for (const node of others) expect((await node.post("/count/a", named)).text).toBe(`${counted + 2}\n`)
  for (const { program } of others) program.signal("SIGTERM")
  expect(await Promise.all(others.map(({ program }) => program.ending))).toEqual([
    "exit code 0",
    "exit code 0",
  ])
})

test("the secret is changed by two rollouts of the environment", async () => {
  const start = starter()
  const nodes = [await start({ SECRET }), await start({ SECRET })]
  let count = 0
  const allCount = async () => {
    for (const node of nodes) {
      await node.isReady()
      count += 1
      expect(await node.post("/count/a")).toEqual({ status: 200, text: `${count}\n` })
    }
  }
  await allCount()
  for (const env of [{ SECRET: NEXT, PREVIOUS_SECRET: SECRET }, { SECRET: NEXT }]) {
    for (const place of [0, 1]) {
      nodes[place]?.program.signal("SIGTERM")
      expect(await nodes[place]?.program.ending).toBe("exit code 0")
      nodes[place] = await start(env)
      await allCount()
    }
  }
  const late = await start({ SECRET })
  expect(await late.program.ending).toBe("exit code 1")
  expect(late.program.output).toContain("listen.secret must be the secret of the nodes of the cluster")
})

test("a node that waits for its store is live and not ready, and ends at once when it is told to", async () => {
  const start = starter()
  const first = await start()
  await first.isReady()
  first.program.signal("SIGTERM")
  await first.program.ending
  const lock = await FileLock.take(start.file)
  const node = await start()
  await node.program.untilItPrints("the start waits for the store", DEADLINE_MS)
  expect((await node.get("/live")).status).toBe(200)
  const { status, text } = await node.get("/ready")
  expect([status, JSON.parse(text)]).toEqual([503, { isReady: false, reasons: ["this node is starting"] }])
  node.program.signal("SIGTERM")
  expect(await node.program.ending).toBe("exit code 0")
  await lock.letGo()
})

test("a second signal, of either kind, ends the process without waiting", async () => {
  const node = await starter()()
  await node.isReady()
  // A client that does not finish its request keeps the server open.
  const client = connect(node.port, "127.0.0.1")
  client.on("error", () => {})
  client.write("POST /count/a HTTP/1.1\r\n")
  await new Promise((resolve) => client.once("connect", resolve))
  await node.get("/live")
  node.program.signal("SIGINT")
  await node.program.untilItPrints("stopping", DEADLINE_MS)
  node.program.signal("SIGTERM")
  expect(await node.program.ending).toBe("exit code 1")
})

interface Answer {
  readonly status: number
  readonly text: string
}

class Node {
  readonly program: Program
  readonly port: number

  constructor(program: Program) {
    this.program = program
    this.port = Number(/serving at http:\/\/127.0.0.1:(\d+)/.exec(program.output)?.[1])
  }

  get(path: string): Promise<Answer> {
    return this.#fetch(path, "GET")
  }

  post(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#fetch(path, "POST", headers)
  }

  async isReady(): Promise<void> {
    await this.program.untilItPrints("has joined", DEADLINE_MS)
    // It is ready once it has met another node, which a probe finds out by asking again.
    const until = performance.now() + DEADLINE_MS
    while ((await this.get("/ready")).status !== 200) expect(performance.now()).toBeLessThan(until)
  }

  async #fetch(path: string, method: string, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, { method, headers })
    return { status: response.status, text: await response.text() }
  }
}

/** Returns a function that starts nodes over one file. They serve, and have not joined yet, when it resolves. */
function starter() {
  const folder = temporaryFolder()
  const programs: Program[] = []
  onTestFinished(async () => {
    await Promise.all(programs.map((program) => program.kill()))
    folder.remove()
  })
  const start = async (env: Record<string, string> = {}): Promise<Node> => {
    const program = new Program(join(built, "examples/deploy/main.js"), {
      env: { STORE: start.file, PORT: "0", HTTP_PORT: "0", ...env },
      channel: false,
    })
    programs.push(program)
    await program.untilItPrints("serving at", DEADLINE_MS)
    return new Node(program)
  }
  start.file = folder.file("counters.db")
  return start
}

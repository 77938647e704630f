import { existsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import type * as Driver from "../../src/stores/sqlite/driver.js"
import { built, RegistryNode } from "./node-process.js"
import { scratchFile } from "./scratch-file.js"

const { loadDriver }: typeof Driver = await import(
  pathToFileURL(join(built, "src/stores/sqlite/driver.js")).href
)
const connect = await loadDriver()

/** The kernel stops processes and shows their state in this way on Linux. */
test.runIf(existsSync("/proc/self/stat"))(
  "a node that was frozen past its lease may not begin, answer or save, and comes back as another incarnation",
  async () => {
    const file = scratchFile()
    const lease = { ttlMs: 1_000 }
    const frozen = await RegistryNode.start({ file, lease })
    const other = await RegistryNode.start({ file, lease })
    const before = await frozen.call("identify")
    const { node: otherNode, echoPath } = await other.call("identify")
    await frozen.untilItSees([before.node, otherNode])
    expect(await frozen.call("ask", echoPath, "hello")).toBe("hello")

    const claimed = await frozen.call("claim", "alice")
    expect(claimed.kind).toBe("acquired")
    expect(await frozen.call("load", "alice")).toBeUndefined()
    expect(await frozen.call("save", "alice", "by the first")).toBe("saved")
    const isThawed = join(dirname(file), "go-on")
    expect(await frozen.call("compute", "alice", isThawed)).toEqual({ mayBegin: true })
    await freezeBetweenCommits(frozen, file)

    // It holds its line, so nobody says that it is dead, and while its lease lasts nobody else has its actor.
    expect((await other.call("claim", "alice")).kind).toBe("owned")
    await other.untilItSees([otherNode])
    const taken = await other.call("claim", "alice")
    expect(taken.kind).toBe("acquired")
    expect(taken.generation).toBeGreaterThan(claimed.generation as number)
    expect(await other.call("load", "alice")).toBe("by the first")
    expect(await other.call("save", "alice", "by the second")).toBe("saved")

    writeFileSync(isThawed, "")
    frozen.resume()
    expect(await frozen.event("turn-ended")).toMatchObject({
      mayReply: false,
      mayBeginNext: false,
      save: "Fenced",
    })
    expect(await frozen.event("fenced")).toMatchObject({ node: before.node })
    expect(await other.call("stored", "alice")).toBe("by the second")
    expect(await other.call("save", "alice", "by the second, again")).toBe("saved")

    const { node: after } = await frozen.event("rejoined")
    expect(after).not.toBe(before.node)
    expect((await frozen.call("identify")).node).toBe(after)
    await frozen.untilItSees([after, otherNode])
    await other.untilItSees([after, otherNode])
    expect(await frozen.call("holds", "alice")).toBe(false)
    expect((await frozen.call("claim", "alice")).kind).toBe("owned")

    expect(await frozen.call("ask", echoPath, "here again")).toBe("here again")
    expect(await other.call("ask", before.echoPath, "are you?")).toBe("are you?")
    await other.event("connected", ({ node }) => node === after)
    await frozen.call("stop")
    await other.untilItSees([otherNode])
    await other.call("stop")
  },
)

/** One that was frozen in the middle of a commit keeps the file's lock, and with it the whole cluster: that is for other tests. */
async function freezeBetweenCommits(node: RegistryNode, file: string): Promise<void> {
  for (;;) {
    await node.halt()
    if (await canBeLocked(file)) return
    node.resume()
  }
}

async function canBeLocked(file: string): Promise<boolean> {
  const connection = connect(file)
  try {
    // Longer than any commit of the other node.
    connection.exec("PRAGMA busy_timeout = 200")
    connection.exec("BEGIN IMMEDIATE; ROLLBACK")
    return true
  } catch {
    return false
  } finally {
    connection.close()
  }
}

import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { buildHolder, HeldElsewhere } from "../../../test/lifeline/held-elsewhere.js"
import type { Following } from "../../ports/lifeline.js"
import { readMark, writtenMark } from "./line-mark.js"
import { type LifelineOptions, NodeLifeline } from "./node-lifeline.js"

const never = 3_600_000

let directory = ""
let holders: HeldElsewhere[] = []
let followings: Following[] = []
/** The outcome of each connect of this process. */
let outcomes: string[] = []

beforeAll(buildHolder)

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "lines-"))
  outcomes = []
  subscribe("net.client.socket", watchSocket)
})

afterEach(async () => {
  unsubscribe("net.client.socket", watchSocket)
  for (const following of followings) following.cancel()
  await Promise.all(holders.map((holder) => holder.kill()))
  holders = []
  followings = []
  await rm(directory, { recursive: true, force: true })
})

describe.runIf(process.platform === "linux")("a process that holds a line", () => {
  test("and is killed is dead to all who follow it, and its file is buried", async () => {
    const holder = await held()
    const followed = [follow(holder.mark), follow(holder.mark), follow(holder.mark)]
    await until("greeted", 3)
    await holder.kill()
    await Promise.all(followed.map(({ told }) => told))
    await eventually(async () => expect(await readdir(directory)).toEqual([]))
  })

  test("and was killed before is dead to each who asks, for as long as its file is there", async () => {
    const holder = await held()
    await holder.kill()
    for (let count = 0; count < 3; count += 1) await follow(holder.mark, { buryAfterMs: never }).told
    expect(await readdir(directory)).toEqual([basename(pathOf(holder.mark))])
    await follow(holder.mark).told
    await eventually(async () => expect(await readdir(directory)).toEqual([]))
  })

  test("and lets go of it is dead to those it had greeted, and leaves nothing behind", async () => {
    const holder = await held()
    const followed = follow(holder.mark)
    await until("greeted")
    await holder.release()
    expect(await readdir(directory)).toEqual([])
    await followed.told
  })

  test("and is stopped is not dead, however many want to know", async () => {
    const holder = await held()
    const before = follow(holder.mark)
    await until("greeted")
    await holder.stop()
    const after = follow(holder.mark)
    await until("connected", 2)
    const crowd = await crowdAt(pathOf(holder.mark))
    outcomes = []
    const refused = follow(holder.mark)
    await until("EAGAIN", 3)
    await someTime()
    expect([before.isTold(), after.isTold(), refused.isTold()]).toEqual([false, false, false])

    for (const socket of crowd) socket.destroy()
    outcomes = []
    holder.resume()
    await until("greeted", 2)
    await holder.kill()
    await Promise.all([before.told, after.told, refused.told])
  })

  test("and is killed while it is stopped is dead", async () => {
    const holder = await held()
    await holder.stop()
    const followed = follow(holder.mark)
    await until("connected")
    await holder.kill()
    await followed.told
  })

  test("and whose file is gone is not dead, and once it is only those know whom it had greeted", async () => {
    const holder = await held()
    const before = follow(holder.mark)
    await until("greeted")
    await unlink(pathOf(holder.mark))
    const after = follow(holder.mark)
    await until("ENOENT")
    await someTime()
    expect([before.isTold(), after.isTold()]).toEqual([false, false])
    await holder.kill()
    await before.told
    await someTime()
    expect(after.isTold()).toBe(false)
  })

  test("is not dead because a dead one's socket has got its name", async () => {
    const [holder, other] = [await held(), await held()]
    await other.kill()
    await rename(pathOf(other.mark), pathOf(holder.mark))
    const followed = follow(holder.mark)
    await until("ECONNREFUSED")
    await someTime()
    expect(followed.isTold()).toBe(false)
  })

  test("is not kept running by it, nor by those it follows, and is dead when it has ended", async () => {
    const holder = await held()
    const other = await HeldElsewhere.start(directory, holder.mark)
    holders.push(other)
    await other.exited()
    await follow(other.mark).told
  })

  test("is followed no more once that is cancelled", async () => {
    const holder = await held()
    const [cancelled, other] = [follow(holder.mark), follow(holder.mark)]
    const early = follow(holder.mark)
    early.following.cancel()
    await until("greeted", 2)
    cancelled.following.cancel()
    await holder.kill()
    await other.told
    await someTime()
    expect([cancelled.isTold(), early.isTold()]).toEqual([false, false])
  })

  test("buries the dead whom nobody follows, and leaves the stopped and the living alone", async () => {
    const dead = [await held(), await held()]
    const stopped = await held()
    for (const holder of dead) await holder.kill()
    await stopped.stop()
    await writeFile(join(directory, "something else"), "")
    const lifeline = new NodeLifeline({ directory: () => directory, buryAfterMs: 1 })
    const own = await lifeline.hold()
    const left = [stopped.mark, own?.mark ?? ""].map((mark) => basename(pathOf(mark)))
    await eventually(async () =>
      expect((await readdir(directory)).sort()).toEqual([...left, "something else"].sort()),
    )
    await own?.release()
  })
})

describe.runIf(process.platform !== "win32")("a mark", () => {
  test("is printable, and never the same twice", async () => {
    const lifeline = new NodeLifeline({ directory: () => directory })
    const lines = [await lifeline.hold(), await lifeline.hold()]
    const marks = lines.map((line) => line?.mark)
    expect(new Set(marks).size).toBe(2)
    for (const mark of marks) expect(mark).toMatch(/^[!-~]+$/)
    for (const line of lines) await line?.release()
    await lines[0]?.release()
    expect(await readdir(directory)).toEqual([])
  })

  test("of another kernel, another place or another form is never proven dead", async () => {
    const holder = await held()
    await holder.kill()
    const mark = readMark(holder.mark)
    if (mark === undefined) throw new Error(`${holder.mark} cannot be read`)
    const name = basename(mark.path)
    const followed = [
      writtenMark({ ...mark, kernel: "00000000-0000-0000-0000-000000000000" }),
      writtenMark({ ...mark, path: `${directory}/./${name}` }),
      writtenMark({ ...mark, path: `${mark.path}\0` }),
      `${holder.mark}:`,
      `${holder.mark}%`,
      holder.mark.replace(/\w+:/, "lock:"),
      "",
    ].map((one) => follow(one))
    await someTime()
    const elsewhere = join(directory, "else")
    await mkdir(elsewhere)
    await chmod(elsewhere, 0o777)
    await rename(mark.path, join(elsewhere, name))
    followed.push(follow(writtenMark({ ...mark, path: join(elsewhere, name) })))
    await someTime()
    expect(followed.map(({ isTold }) => isTold())).toEqual(followed.map(() => false))
    // It is dead, all the same.
    await rename(join(elsewhere, name), mark.path)
    await follow(holder.mark).told
  })
})

describe.runIf(process.platform !== "win32")("a line is not held", () => {
  const holdIn = (path: string) => new NodeLifeline({ directory: () => path }).hold()
  const notOurs = {
    mark: undefined,
    because: expect.stringContaining("must be a directory that only this user can write to"),
  }

  test("in a directory that is not one, or in which others can write", async () => {
    const real = join(directory, "real")
    const link = join(directory, "link")
    expect(await (await holdIn(real))?.release()).toBeUndefined()
    expect((await readdir(directory)).length).toBe(1)
    await symlink(real, link)
    expect(await holdIn(link)).toMatchObject(notOurs)
    await writeFile(join(directory, "file"), "")
    expect(await holdIn(join(directory, "file"))).toMatchObject(notOurs)
    for (const mode of [0o770, 0o702]) {
      await chmod(real, mode)
      expect(await holdIn(real)).toMatchObject(notOurs)
    }
    await chmod(real, 0o700)
    const line = await holdIn(real)
    expect(line.mark).toBeDefined()
    await line.release()
  })

  test("where the path would be too long, or is none", async () => {
    const long = join(directory, "x".repeat(60))
    await mkdir(long)
    const tooLong = expect.stringContaining("the path of the socket must have at most 100 bytes")
    expect(await holdIn(long)).toMatchObject({ mark: undefined, because: tooLong })
    expect(await readdir(long)).toEqual([])
    expect(await holdIn(join(directory, "not", "there"))).toMatchObject(notOurs)
    const relative = expect.stringContaining("the path of the socket must be absolute")
    expect(await holdIn("somewhere")).toMatchObject({ mark: undefined, because: relative })
    await expect(access("somewhere")).rejects.toThrow()
  })
})

async function held(): Promise<HeldElsewhere> {
  const holder = await HeldElsewhere.start(directory)
  holders.push(holder)
  return holder
}

function follow(mark: string, options: LifelineOptions = {}) {
  const lifeline = new NodeLifeline({
    directory: () => directory,
    retryAfterMs: 1,
    buryAfterMs: 1,
    ...options,
  })
  let isTold = false
  let tell = () => {}
  const told = new Promise<void>((resolve) => {
    tell = resolve
  })
  const following = lifeline.follow(mark, () => {
    expect(isTold).toBe(false)
    isTold = true
    tell()
  })
  followings.push(following)
  return { following, told, isTold: () => isTold }
}

/** Waits until so many of this process's connects since `outcomes` was cleared have come to this. */
function until(outcome: string, count = 1): Promise<void> {
  return eventually(() =>
    expect(outcomes.filter((one) => one === outcome).length).toBeGreaterThanOrEqual(count),
  )
}

function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 5 })
}

function watchSocket(message: unknown): void {
  const { socket } = message as { socket: Socket }
  socket.once("connect", () => outcomes.push("connected"))
  socket.once("data", () => outcomes.push("greeted"))
  socket.once("error", (error: NodeJS.ErrnoException) => outcomes.push(error.code ?? ""))
}

function pathOf(mark: string): string {
  return readMark(mark)?.path ?? ""
}

/** Connects to a holder that does not accept until no more fit. */
async function crowdAt(path: string): Promise<Socket[]> {
  const crowd: Socket[] = []
  for (;;) {
    const socket = connect({ path })
    crowd.push(socket)
    const isIn = await once(socket, "connect").then(
      () => true,
      () => false,
    )
    if (!isIn) return crowd
  }
}

/** As long as it takes to find out that somebody else is dead, and more. */
async function someTime(): Promise<void> {
  for (let count = 0; count < 3; count += 1) {
    const holder = await held()
    const followed = follow(holder.mark)
    await holder.kill()
    await followed.told
  }
}

import { expect, it } from "vitest"
import { AssociationConnected, CallError } from "../../src/index.js"
import { CuttingProxy } from "./support/cutting-proxy.js"
import { leastBytesInUse } from "./support/memory.js"
import { notice, until } from "./support/until.js"
import { type Question, WatchedNode } from "./support/watched-node.js"

const CUTS = 3_000
const ASKERS = 32

it(`leaves nothing behind after ${CUTS} reconnects under load`, { timeout: 600_000 }, async () => {
  const proxy = await CuttingProxy.start()
  const settings = { reconnect: { fromMs: 1, toMs: 5 } }
  const asker = await WatchedNode.start(settings)
  const asked = await WatchedNode.start(
    { ...settings, advertise: { host: "127.0.0.1", port: proxy.port } },
    { network: proxy.network },
  )
  const load = new Load(asker, asked)
  let cuts = 0
  let target = 0
  let answeredAtLastCut = 0
  // Cuts a connection at once when it is established, or after some answers.
  asker.system.events.subscribe(AssociationConnected, () => {
    const answers = cuts % 3
    answeredAtLastCut = load.answered
    const cutAfter = () => {
      if (cuts >= target) return
      if (load.answered < answeredAtLastCut + answers) setImmediate(cutAfter)
      else {
        cuts += 1
        notice()
        proxy.cut(cuts % 2 === 0 ? "reset" : "end")
      }
    }
    cutAfter()
  })
  const cutUpTo = async (count: number) => {
    target = count
    proxy.cut("end")
    await until(`there have been ${count} cuts`, () => cuts >= count, 500_000)
    const { answered } = load
    await until("all is well again", () => load.answered > answered + 2 * ASKERS)
    for (const node of [asker, asked]) {
      node.forget()
      node.log.length = 0
    }
  }

  await until("they talk", () => load.answered > ASKERS)
  await cutUpTo(CUTS / 10)
  const before = { bytes: await leastBytesInUse(), ...resources() }
  await cutUpTo(CUTS)
  const after = { bytes: await leastBytesInUse(), ...resources() }
  await load.stop()

  expect(after.sockets).toBe(before.sockets)
  expect(after.timers).toBeLessThanOrEqual(before.timers + 4)
  // Less than half a kilobyte for each of them.
  expect(after.bytes - before.bytes).toBeLessThan(CUTS * 512)
  expect(load.counts.asked).toBe(load.counts.ended)
  expect(load.strange).toEqual([])
  expect(load.counts.lost).toBeGreaterThan(CUTS / 2)

  await asker.stop()
  await asked.stop()
  await proxy.stop()
})

/** Keeps many questions in flight. Each ends with its answer, or with an error that states its delivery. */
class Load {
  asked = 0
  answered = 0
  lost = 0
  undelivered = 0
  /** The unexpected outcomes. */
  readonly strange: unknown[] = []
  readonly #askers: Promise<void>[]
  #isStopping = false

  constructor(asker: WatchedNode, asked: WatchedNode) {
    const echo = asker.system.resolve<Question>(asked.path("echo"))
    const ask = async (text: string) => {
      this.asked += 1
      try {
        const answer = await asker.system.ask<Question, string>(echo, (replyTo) => ({ text, replyTo }))
        if (answer === text) this.answered += 1
        else this.strange.push(`${text} was answered with ${answer}`)
      } catch (error) {
        if (!(error instanceof CallError) || error.code !== "NodeUnreachable") this.strange.push(error)
        else if (error.delivery === "unknown") this.lost += 1
        else this.undelivered += 1
      }
      notice()
    }
    this.#askers = Array.from({ length: ASKERS }, async (_, number) => {
      for (let count = 0; !this.#isStopping; count += 1) {
        await ask(`${number}: ${count}`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
  }

  get counts() {
    const { asked, answered, lost, undelivered, strange } = this
    return { asked, ended: answered + lost + undelivered + strange.length, answered, lost, undelivered }
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#askers)
  }
}

function resources(): { sockets: number; timers: number } {
  const kinds = process.getActiveResourcesInfo()
  const count = (kind: string) => kinds.filter((active) => active === kind).length
  return { sockets: count("TCPSocketWrap"), timers: count("Timeout") }
}

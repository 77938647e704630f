import { ActorSystem, consoleLogger } from "../../../src/index.js"
import { notice, recorded, until } from "./until.js"
import type { Question, WatchedNode } from "./watched-node.js"

/** A node that asks another one question after the other, and records each failure. */
export class HonestPeer {
  readonly system: ActorSystem
  readonly failures = recorded<unknown>()
  answered = 0
  readonly #asking: Promise<void>
  #isStopping = false

  private constructor(system: ActorSystem, node: WatchedNode) {
    this.system = system
    this.#asking = this.#ask(node)
  }

  static async start(node: WatchedNode): Promise<HonestPeer> {
    const { namespace, secret } = node
    const system = await ActorSystem.start({
      namespace,
      listen: { host: "127.0.0.1", port: 0, ...(secret === undefined ? {} : { secret }) },
      logger: consoleLogger({ level: "error" }),
    })
    const peer = new HonestPeer(system, node)
    await peer.more(1)
    return peer
  }

  /** Resolves when that many further questions have been answered. */
  async more(count: number): Promise<void> {
    const enough = this.answered + count
    await until(`${count} more questions are answered`, () => {
      return this.answered >= enough || this.failures.length > 0
    })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#asking
    await this.system.stop()
  }

  async #ask(node: WatchedNode): Promise<void> {
    const echo = this.system.resolve<Question>(node.path("echo"))
    for (let asked = 0; !this.#isStopping; asked += 1) {
      try {
        const text = `question ${asked}`
        const answer = await this.system.ask<Question, string>(echo, (replyTo) => ({ text, replyTo }), {
          timeoutMs: 10_000,
        })
        if (answer !== text) throw new Error(`${text} was answered with ${answer}`)
        this.answered += 1
        notice()
      } catch (error) {
        this.failures.push(error)
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

import type { StoreProvider } from "../ports/store.js"
import type { RenewalStore, Thread, ThreadListener, Threads } from "../ports/threads.js"
import type { RenewalReport, RenewalRequest } from "../registry/renewal-messages.js"
import { RenewalProgram } from "../registry/renewal-program.js"
import type { SimMicros } from "./agenda.js"
import { SimNumbers } from "./sim-numbers.js"
import type { SimProcess } from "./sim-process.js"
import type { Life } from "./world.js"

/** How a thread of a simulated process opens a store: it cannot load a module, and gets the provider. */
export const SIMULATED = "simulated:"

/** The options of such a store. */
export interface SimInThread {
  provider(life: Life): StoreProvider
}

/** The threads of a simulated process. Their program is that of production. */
export function simThreads(proc: SimProcess): Threads {
  return {
    startRenewal: (store, listener) => new SimThread(proc, store, listener),
    share: (count) => SimNumbers.of(proc, count),
    shared: (memory) => new SimNumbers(proc, memory),
  }
}

class SimThread implements Thread {
  readonly #process: SimProcess
  readonly #thread: SimProcess
  readonly #toThread: Channel
  readonly #ended: Promise<void>
  #program: RenewalProgram | undefined

  constructor(proc: SimProcess, store: RenewalStore, listener: ThreadListener) {
    const { world } = proc
    const thread = proc.thread()
    this.#process = proc
    this.#thread = thread
    this.#toThread = new Channel(proc, thread)
    const toProcess = new Channel(thread, proc)
    const startsIn = Math.ceil(world.random.between(1_000, 100_000))
    world.schedule(proc.now + startsIn, thread, "thread starts", () => {
      if (store.module !== SIMULATED) throw new Error(`a simulated thread cannot load ${store.module}`)
      const provider = (store.options as SimInThread).provider(world.lifeOf(thread))
      this.#program = new RenewalProgram(provider, store.namespace, {
        ports: thread.ports,
        threads: { shared: (memory) => new SimNumbers(thread, memory) },
        send: (report: RenewalReport) => {
          toProcess.send(() => listener.received(report))
          if (report.kind === "closed") this.#exit()
        },
      })
      this.#toThread.open()
    })
    toProcess.open()
    this.#ended = new Promise((resolve) => {
      thread.onDeath(() => {
        if (!proc.isAlive) return
        toProcess.close(() => {
          listener.ended(undefined)
          resolve()
        })
      })
    })
  }

  post(message: unknown): void {
    this.#toThread.send(() => this.#program?.receive(message as RenewalRequest))
  }

  async end(): Promise<void> {
    this.post({ kind: "close" })
    const late = new Promise<void>((resolve) => this.#process.later(CLOSE_MICROS, "thread is late", resolve))
    await Promise.race([this.#ended, late])
  }

  /** It ends once it has got so far, and not in the midst of its step. */
  #exit(): void {
    const { world } = this.#thread
    world.schedule(this.#thread.now, undefined, `${this.#thread.name} ends`, () => this.#thread.kill())
  }
}

const CLOSE_MICROS = 3_000_000

/** Messages from one event loop to another of the same process, in order. */
class Channel {
  readonly #from: SimProcess
  readonly #to: SimProcess
  readonly #queue: { readonly sentAt: SimMicros; readonly deliver: () => void }[] = []
  #isOpen = false

  constructor(from: SimProcess, to: SimProcess) {
    this.#from = from
    this.#to = to
  }

  send(deliver: () => void): void {
    if (!this.#from.isAlive) return
    this.#queue.push({ sentAt: this.#from.now, deliver })
    if (this.#isOpen) this.#wakeAt(this.#from.now)
  }

  /** The receiver takes messages from now on. */
  open(): void {
    this.#isOpen = true
    for (const { sentAt } of this.#queue) this.#wakeAt(sentAt)
  }

  /** The sender has died: delivers what it has sent, and then this. */
  close(deliver: () => void): void {
    const { now } = this.#from.world
    for (;;) {
      const last = this.#queue.at(-1)
      if (last === undefined || last.sentAt <= (this.#from.diedAt ?? now)) break
      this.#queue.pop()
    }
    this.#queue.push({ sentAt: now, deliver })
    this.#wakeAt(now)
  }

  #wakeAt(sentAt: SimMicros): void {
    const { world } = this.#to
    const at = Math.max(sentAt, world.now) + Math.ceil(world.random.between(5, 500))
    world.schedule(at, this.#to, "thread message", () => {
      const next = this.#queue[0]
      if (next === undefined || next.sentAt > world.now) return
      this.#queue.shift()
      next.deliver()
    })
  }
}

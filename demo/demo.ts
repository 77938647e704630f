import { dashboard } from "../src/dashboard/index.js"
import { ActorSystem, withOptions } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { duration } from "../tools/human-number.js"
import { Latencies } from "../tools/latencies.js"
import { pause } from "../tools/pause.js"
import { within } from "../tools/within.js"
import { Bank } from "./bank.js"
import { BankAccount } from "./bank-account.js"
import { CallHistory, type Calls, rate } from "./call-history.js"
import { type ClusterOptions, clusterSettings } from "./cluster-settings.js"
import type { DemoOptions } from "./command-line.js"
import { DemoNode } from "./demo-node.js"
import { counted, type Figures, type Phase } from "./figures.js"
import type { Key } from "./keys.js"
import type { LiveScreen } from "./live-screen.js"
import { line, summary } from "./report.js"
import { picture } from "./view.js"

/**
 * Starts the nodes and a bank that calls them, kills one node after the other, and audits the bank after
 * every kill and at the end. A key brings the next kill, a pause or an audit forward.
 *
 * The next node is killed when the actors of the last one have answered again, so that each failover is
 * measured alone.
 */
export class Demo {
  readonly #options: DemoOptions
  readonly #cluster: ClusterOptions
  readonly #screen: LiveScreen
  readonly #random: SeededRandom
  readonly #nodes: readonly DemoNode[]
  readonly #history = new CallHistory()
  readonly #state = { failovers: new Latencies(), away: 0, sum: 0, audits: 0 }
  readonly #problems = new Set<string>()
  readonly #over = new AbortController()
  #events: readonly string[] = []
  #link: string | undefined
  #phase: Phase = { kind: "counting down", killAtMs: 0 }
  #pressed: Key | undefined
  #countdown = new AbortController()
  #startedAt = performance.now()

  constructor(options: DemoOptions, cluster: ClusterOptions, screen: LiveScreen) {
    this.#options = options
    this.#cluster = cluster
    this.#screen = screen
    this.#random = new SeededRandom(options.seed)
    this.#nodes = Array.from(
      { length: options.nodes },
      (_, index) => new DemoNode(`n${index + 1}`, (problem) => this.#broke(problem)),
    )
  }

  /**
   * Runs until `signal` is aborted, `q` is pressed, the time is over, or something is wrong. Resolves with
   * whether nothing is.
   */
  async run(signal: AbortSignal): Promise<{ readonly isRight: boolean; readonly summary: string }> {
    signal.addEventListener("abort", () => this.#over.abort())
    this.#over.signal.addEventListener("abort", () => {
      this.#screen.close()
      this.#log("ending")
    })
    const { store, seed } = this.#options
    const on = store === "sqlite" ? "" : ` on ${store}`
    this.#log(`starting ${this.#nodes.length} nodes${on} (seed ${seed})`)
    await Promise.all(this.#nodes.map(({ process }) => process.start(this.#cluster)))
    // A node that hosts no actors calls those of the others.
    const system = await ActorSystem.start(clusterSettings(this.#cluster))
    const bank = new Bank(
      (key, options) => withOptions(system.actor(BankAccount, key), options),
      this.#options,
    )
    const board = dashboard(system, { actions: true, showState: true })
    this.#link = await board.listen()
    this.#log(`watch it in a browser: ${this.#link}`)
    this.#startedAt = performance.now()
    if (!this.#over.signal.aborted) this.#screen.open((key) => this.#press(key))
    const { seconds } = this.#options
    const ends = seconds && setTimeout(() => this.#over.abort(), seconds * 1_000)
    const steps = setInterval(() => this.#step(bank), STEP_MS)
    try {
      await this.#disturbAgainAndAgain(bank)
      await this.#audit(bank)
    } catch (error) {
      this.#broke(String((error as Error).stack))
    } finally {
      clearInterval(steps)
      clearTimeout(ends)
      bank.stop()
    }
    const figures = this.#figures(bank, {
      latencies: bank.calls.all,
      perSecond: rate(bank.calls.all.count, this.#elapsedMs),
    })
    await board.close()
    await system.stop()
    return { isRight: this.#problems.size === 0, summary: summary(figures, [...this.#problems]) }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ process }) => process.stop(STOP_MS)))
  }

  #press(key: Key): void {
    if (key === "q") return this.#over.abort()
    this.#pressed = key
    this.#countdown.abort()
  }

  async #disturbAgainAndAgain(bank: Bank): Promise<void> {
    const over = this.#over.signal
    for (;;) {
      bank.open()
      const key = await this.#nextKey()
      const hosts = this.#nodes.filter(({ hosted }) => hosted.size > 0)
      if (!over.aborted && key !== "a" && hosts.length > 0) {
        const node = this.#random.pick(hosts)
        await (key === "p" ? this.#pause(node, bank) : this.#kill(node, bank))
      }
      if (over.aborted) return
      await this.#audit(bank)
      if (over.aborted) return
      if (key === "a") this.#log(`audited: all ${this.#options.accounts} accounts are right`)
    }
  }

  /** The key that was pressed, or `k` when the countdown to the next kill ends. */
  async #nextKey(): Promise<Key> {
    if (this.#pressed === undefined) {
      const ms = this.#random.between(MIN_PAUSE_MS, MAX_PAUSE_MS)
      this.#phase = { kind: "counting down", killAtMs: this.#elapsedMs + ms }
      this.#countdown = new AbortController()
      await pause(ms, AbortSignal.any([this.#countdown.signal, this.#over.signal]))
    }
    const key = this.#pressed ?? "k"
    this.#pressed = undefined
    return key
  }

  /** Resolves when the actors of the node have answered again, and the node is a member again. */
  async #kill(node: DemoNode, bank: Bank): Promise<void> {
    const { process, hosted } = node
    const [lost, pid] = [new Map(hosted), process.pid]
    this.#phase = { kind: "killed", node: process.name }
    const killed = process.kill()
    this.#history.mark("k")
    node.kills += 1
    const back = this.#untilBack(lost, this.#state.failovers, bank, () => this.#over.signal.aborted)
    this.#log(`${process.name} (process ${pid}) was killed, and ${counted(lost.size, "actor")} with it`)
    const restarted = killed.then(() => this.#restart(node))
    await within(PATIENCE_MS, `${process.name} and its actors are back`, Promise.all([back, restarted]))
  }

  async #restart({ process, hosted }: DemoNode): Promise<void> {
    hosted.clear()
    const over = this.#over.signal
    await pause(this.#random.between(MIN_DOWN_MS, MAX_DOWN_MS), over)
    if (over.aborted) return
    try {
      await process.start(this.#cluster)
    } catch (error) {
      // Ctrl-C can end a process that has just been started.
      if (over.aborted) return
      throw error
    }
    this.#log(`${process.name} is a member again (process ${process.pid}); actors stay where they are`)
  }

  /**
   * Halts a process until its actors have answered on other nodes. It runs on with activations that were
   * superseded while it stood still, and can no longer save or reply.
   *
   * A process that is halted in a commit has the lock of the store's file, so that no other node can take its
   * actors over. This is rare where the process is halted after an audit, before the next transfer.
   */
  async #pause({ process, hosted }: DemoNode, bank: Bank): Promise<void> {
    await this.#audit(bank)
    if (this.#over.signal.aborted) return
    this.#phase = { kind: "paused", node: process.name }
    await process.halt()
    this.#history.mark("p")
    bank.open()
    this.#log(`${process.name} was paused with SIGSTOP, and ${counted(hosted.size, "actor")} with it`)
    let isLongEnough = false
    const back = this.#untilBack(new Map(hosted), new Latencies(), bank, () => isLongEnough)
    try {
      await Promise.race([back, pause(MAX_HALT_MS, this.#over.signal)])
    } finally {
      isLongEnough = true
      process.resume()
    }
    const haveMoved = await within(PATIENCE_MS, `the actors of ${process.name} are back`, back)
    const why = haveMoved ? "its old activations can no longer save or reply" : "its actors have not moved"
    this.#log(`${process.name} runs again; ${why}`)
  }

  /**
   * Adds to `times` how long each actor takes until the first answer of another activation. Waits for no other
   * one when that `isLongEnough`. Resolves with whether all are back.
   */
  async #untilBack(
    lost: ReadonlyMap<string, number>,
    times: Latencies,
    bank: Bank,
    isLongEnough: () => boolean,
  ): Promise<boolean> {
    const since = performance.now()
    const took: number[] = []
    this.#state.away = lost.size
    await Promise.all(
      [...lost].map(async ([account, generation]) => {
        while ((await bank.statement(account)).generation <= generation) if (isLongEnough()) return
        const ms = performance.now() - since
        took.push(ms)
        times.add(ms)
        this.#state.away -= 1
      }),
    )
    this.#state.away = 0
    if (took.length < lost.size) return false
    const [first, last] = [duration(took[0]), duration(took.at(-1))]
    this.#log(`its actors are back: the first after ${first}, the last after ${last}`)
    return true
  }

  async #audit(bank: Bank): Promise<void> {
    this.#phase = { kind: "auditing" }
    this.#history.mark("a")
    const { sum, problems } = await within(PATIENCE_MS, "all accounts are read", bank.audit())
    this.#state.sum = sum
    this.#state.audits += 1
    for (const problem of problems) this.#broke(problem)
  }

  #broke(problem: string): void {
    this.#problems.add(problem)
    this.#over.abort()
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt
  }

  #log(text: string): void {
    const event = this.#stamped(text)
    this.#events = [...this.#events, event].slice(-MAX_EVENTS)
    this.#screen.print(event)
  }

  #stamped(text: string): string {
    return `${(this.#elapsedMs / 1_000).toFixed(1).padStart(6)} s  ${text}`
  }

  #step(bank: Bank): void {
    this.#history.step(bank.calls, this.#elapsedMs)
    const figures = this.#figures(bank, this.#history.recent)
    this.#screen.show((terminal) => picture(figures, terminal), this.#stamped(line(figures)), this.#elapsedMs)
  }

  #figures(bank: Bank, calls: Calls): Figures {
    return {
      ...this.#state,
      options: this.#options,
      elapsedMs: this.#elapsedMs,
      phase: this.#phase,
      pressed: this.#pressed,
      nodes: this.#nodes,
      bank,
      calls,
      history: this.#history.steps,
      link: this.#link,
      events: this.#events,
    }
  }
}

const STEP_MS = 100
const MAX_EVENTS = 100
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 2_500
const MIN_DOWN_MS = 200
const MAX_DOWN_MS = 1_000
/** The deadline of what should take seconds. */
const PATIENCE_MS = 60_000
/** Longer than it takes until a lease has expired, also on a busy machine. */
const MAX_HALT_MS = 15_000
const STOP_MS = 15_000

import { ActorSystem } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { NodeProcess } from "../tools/cluster/node-process.js"
import { duration } from "../tools/human-number.js"
import { Latencies } from "../tools/latencies.js"
import { LiveScreen } from "../tools/live-screen.js"
import { pause } from "../tools/pause.js"
import type { Screen } from "../tools/progress-line.js"
import { within } from "../tools/within.js"
import { Bank } from "./bank.js"
import { BankAccount } from "./bank-account.js"
import { type ClusterOptions, clusterSettings } from "./cluster-settings.js"
import type { DemoOptions } from "./command-line.js"
import type { NodeCommands, NodeEvent } from "./node.js"
import { type Figures, line, picture, summary } from "./view.js"

/**
 * Starts the nodes and a bank that calls them, kills one node after the other, and audits the bank after
 * every kill and at the end.
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
  readonly #state = { failovers: new Latencies(), away: 0, sum: 0, audits: 0 }
  readonly #problems = new Set<string>()
  readonly #over = new AbortController()
  #startedAt = performance.now()

  /** Everything that the demo writes is in `folder`. */
  constructor(options: DemoOptions, folder: string, screen: Screen) {
    this.#options = options
    this.#cluster = { folder, deathProof: options.deathProof }
    this.#screen = new LiveScreen(screen, () => this.#elapsedMs)
    this.#random = new SeededRandom(options.seed)
    this.#nodes = Array.from({ length: options.nodes }, (_, index) => this.#node(`n${index + 1}`))
  }

  /**
   * Runs until `signal` is aborted, the time is over, or something is wrong. Resolves with whether nothing
   * is.
   */
  async run(signal: AbortSignal): Promise<{ readonly isRight: boolean; readonly summary: string }> {
    signal.addEventListener("abort", () => this.#over.abort())
    this.#screen.log(`starting ${this.#nodes.length} nodes (seed ${this.#options.seed})`)
    await Promise.all(this.#nodes.map(({ process }) => process.start(this.#cluster)))
    // A node that hosts no actors calls those of the others.
    const system = await ActorSystem.start(clusterSettings(this.#cluster))
    const bank = new Bank((key) => system.actor(BankAccount, key), this.#options)
    this.#startedAt = performance.now()
    const { seconds } = this.#options
    const ends = seconds && setTimeout(() => this.#over.abort(), seconds * 1_000)
    const shows = setInterval(
      () => this.#show(this.#figures(bank, bank.calls.takeRecent(), SHOW_MS)),
      SHOW_MS,
    )
    try {
      await this.#killAgainAndAgain(bank)
      this.#screen.log("no more transfers; counting the money")
      await this.#audit(bank)
    } catch (error) {
      this.#broke(String((error as Error).stack))
    } finally {
      clearInterval(shows)
      clearTimeout(ends)
      this.#screen.clear()
      bank.stop()
    }
    const figures = this.#figures(bank, bank.calls.all, this.#elapsedMs)
    await system.stop()
    return { isRight: this.#problems.size === 0, summary: summary(figures, [...this.#problems]) }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ process }) => process.stop(STOP_MS)))
  }

  async #killAgainAndAgain(bank: Bank): Promise<void> {
    const over = this.#over.signal
    for (;;) {
      bank.open()
      await pause(this.#random.between(MIN_PAUSE_MS, MAX_PAUSE_MS), over)
      const hosts = this.#nodes.filter(({ hosted }) => hosted.size > 0)
      if (!over.aborted && hosts.length > 0) await this.#kill(this.#random.pick(hosts), bank)
      if (over.aborted) return
      await this.#audit(bank)
    }
  }

  /** Resolves when the actors of the node have answered again, and the node is a member again. */
  async #kill(node: DemoNode, bank: Bank): Promise<void> {
    const { process, hosted } = node
    const [pid, lost, killedAt] = [process.pid, new Map(hosted), performance.now()]
    const killed = process.kill()
    node.kills += 1
    this.#screen.log(`${process.name} (process ${pid}) was killed, and ${lost.size} actors with it`)
    const back = this.#untilBack(lost, killedAt, bank)
    const restarted = killed.then(() => this.#restart(node))
    await within(PATIENCE_MS, `${process.name} and its actors are back`, Promise.all([back, restarted]))
  }

  async #restart({ process, hosted }: DemoNode): Promise<void> {
    hosted.clear()
    await pause(this.#random.between(MIN_DOWN_MS, MAX_DOWN_MS), this.#over.signal)
    await process.start(this.#cluster)
    this.#screen.log(`${process.name} is a member again (process ${process.pid})`)
  }

  /** Measures for each actor how long it takes from the kill to the first answer of another activation. */
  async #untilBack(lost: ReadonlyMap<string, number>, killedAt: number, bank: Bank): Promise<void> {
    this.#state.away = lost.size
    const times = await Promise.all(
      [...lost].map(async ([account, generation]) => {
        while ((await bank.statement(account)).generation <= generation);
        const tookMs = performance.now() - killedAt
        this.#state.failovers.add(tookMs)
        this.#state.away -= 1
        return tookMs
      }),
    )
    const [first, last] = [duration(Math.min(...times)), duration(Math.max(...times))]
    this.#screen.log(`its actors are back: the first after ${first}, the last after ${last}`)
  }

  async #audit(bank: Bank): Promise<void> {
    const { sum, problems } = await within(PATIENCE_MS, "all accounts are read", bank.audit())
    this.#state.sum = sum
    this.#state.audits += 1
    for (const problem of problems) this.#broke(problem)
  }

  #node(name: string): DemoNode {
    const hosted = new Map<string, number>()
    const process = new NodeProcess<NodeCommands, NodeEvent>(name, {
      program: new URL("./node.js", import.meta.url),
      died: (problem) => this.#broke(problem),
      reported: ({ account, generation, isValid }) => {
        if (isValid) hosted.set(account, generation)
        else if (hosted.get(account) === generation) hosted.delete(account)
      },
    })
    return { process, hosted, kills: 0 }
  }

  #broke(problem: string): void {
    this.#problems.add(problem)
    this.#over.abort()
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt
  }

  #show(figures: Figures): void {
    this.#screen.show(picture(figures), line(figures))
  }

  #figures(bank: Bank, calls: Latencies, overMs: number): Figures {
    const callsPerSecond = (calls.count * 1_000) / Math.max(1, overMs)
    const [options, nodes, elapsedMs] = [this.#options, this.#nodes, this.#elapsedMs]
    return { ...this.#state, options, nodes, elapsedMs, bank, calls, callsPerSecond }
  }
}

interface DemoNode {
  readonly process: NodeProcess<NodeCommands, NodeEvent>
  /** The accounts that it hosts, and the generation of each. */
  readonly hosted: Map<string, number>
  kills: number
}

const SHOW_MS = 500
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 2_500
const MIN_DOWN_MS = 200
const MAX_DOWN_MS = 1_000
/** The deadline of what should take seconds. */
const PATIENCE_MS = 60_000
const STOP_MS = 15_000

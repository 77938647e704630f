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
import { type Figures, line, picture, seconds } from "./view.js"

/**
 * The whole demo: nodes, and a bank that calls them. Kills one node after the other, and audits the bank after every kill
 * and in the end.
 *
 * The next node is killed when the actors of the last one have answered again, so that each failover is measured alone.
 */
export class Demo {
  readonly #options: DemoOptions
  readonly #cluster: ClusterOptions
  readonly #screen: LiveScreen
  readonly #random: SeededRandom
  readonly #nodes: readonly DemoNode[]
  readonly #failovers = new Latencies()
  readonly #happened: string[] = []
  readonly #problems: string[] = []
  readonly #over = new AbortController()
  #startedAt = performance.now()
  #away = 0
  #counted: Figures["counted"]

  /** Everything that the demo writes is in `folder`. */
  constructor(options: DemoOptions, folder: string, screen: Screen) {
    this.#options = options
    this.#cluster = { folder, deathProof: options.deathProof }
    this.#screen = new LiveScreen(screen)
    this.#random = new SeededRandom(options.seed)
    this.#nodes = Array.from({ length: options.nodes }, (_, index) => this.#node(`n${index + 1}`))
  }

  /** Runs until `signal` is aborted, the time is over, or something is wrong. */
  async run(signal: AbortSignal): Promise<DemoResult> {
    this.#says(`starting ${this.#nodes.length} nodes (seed ${this.#options.seed})`)
    await Promise.all(this.#nodes.map(({ process }) => process.start(this.#cluster)))
    // A node that hosts no actors calls those of the others.
    const system = await ActorSystem.start(clusterSettings(this.#cluster))
    const bank = new Bank((key) => system.actor(BankAccount, key), this.#options)
    this.#startedAt = performance.now()
    signal.addEventListener("abort", () => this.#over.abort())
    if (signal.aborted) this.#over.abort()
    const { seconds: limit } = this.#options
    const ends = limit && setTimeout(() => this.#over.abort(), limit * 1_000)
    const shows = setInterval(() => this.#show(bank), SHOW_MS)
    try {
      await this.#killAgainAndAgain(bank)
      this.#says("no more transfers; counting the money")
      await this.#audit(bank)
    } catch (error) {
      this.#broke(String((error as Error).stack))
    } finally {
      clearInterval(shows)
      clearTimeout(ends)
      this.#screen.clear()
      bank.stop()
    }
    const figures = this.#figures(bank, bank.calls, performance.now() - this.#startedAt)
    await system.stop()
    return { figures, problems: this.#problems }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map(({ process }) => process.stop(STOP_MS)))
  }

  async #killAgainAndAgain(bank: Bank): Promise<void> {
    const over = this.#over.signal
    for (;;) {
      bank.work()
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
    this.#says(`${process.name} (process ${pid}) was killed, and ${lost.size} actors with it`)
    const back = this.#untilBack(lost, killedAt, bank)
    const restarted = killed.then(() => this.#restart(node))
    await within(PATIENCE_MS, `${process.name} and its actors are back`, Promise.all([back, restarted]))
  }

  async #restart({ process, hosted }: DemoNode): Promise<void> {
    hosted.clear()
    await pause(this.#random.between(MIN_DOWN_MS, MAX_DOWN_MS), this.#over.signal)
    await process.start(this.#cluster)
    this.#says(`${process.name} is a member again (process ${process.pid})`)
  }

  /** Measures for each actor how long it takes from the kill to the first answer of another activation. */
  async #untilBack(lost: ReadonlyMap<string, number>, killedAt: number, bank: Bank): Promise<void> {
    const times: number[] = []
    this.#away = lost.size
    const isBack = async ([account, generation]: [string, number]) => {
      while ((await bank.statement(account)).generation <= generation);
      times.push(performance.now() - killedAt)
      this.#failovers.add(times.at(-1) as number)
      this.#away -= 1
    }
    await Promise.all([...lost].map(isBack))
    const [first, last] = [duration(times[0]), duration(times.at(-1))]
    this.#says(`its actors are back: the first after ${first}, the last after ${last}`)
  }

  async #audit(bank: Bank): Promise<void> {
    const { sum, problems } = await within(PATIENCE_MS, "all accounts are read", bank.audit())
    this.#counted = { sum, times: (this.#counted?.times ?? 0) + 1 }
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
    if (!this.#problems.includes(problem)) this.#problems.push(problem)
    this.#over.abort()
  }

  #says(what: string): void {
    const text = `${seconds(performance.now() - this.#startedAt)}  ${what}`
    this.#happened.push(text)
    this.#screen.happened(text)
  }

  #show(bank: Bank): void {
    const figures = this.#figures(bank, bank.takeRecentCalls(), SHOW_MS)
    this.#screen.show(picture(figures, this.#happened), line(figures), figures.elapsedMs)
  }

  #figures({ transfers, retries, books }: Bank, calls: Latencies, callsOverMs: number): Figures {
    return {
      options: this.#options,
      elapsedMs: performance.now() - this.#startedAt,
      nodes: this.#nodes,
      calls,
      callsPerSecond: (calls.count * 1_000) / Math.max(1, callsOverMs),
      transfers,
      retries,
      failovers: this.#failovers,
      away: this.#away,
      total: books.total,
      counted: this.#counted,
    }
  }
}

export interface DemoResult {
  readonly figures: Figures
  /** Empty if all is well. */
  readonly problems: readonly string[]
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

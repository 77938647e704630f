import { join } from "node:path"
import { SeededRandom } from "../src/sim/index.js"
import { pause } from "../tools/pause.js"
import { Bank } from "./bank.js"
import type { DemoOptions } from "./command-line.js"
import { Failovers } from "./failovers.js"
import { NodeProcess } from "./node-process.js"
import { Screen, type ScreenOutput } from "./screen.js"
import { duration, type Shown, seconds } from "./view.js"

/**
 * The whole demo: starts nodes and the bank, kills one node after the other, and counts the money after every kill and in the end.
 *
 * The next node is killed when the actors of the last one are back, so that each failover is measured by itself.
 */
export class Demo {
  readonly #options: DemoOptions
  readonly #screen: Screen
  readonly #random: SeededRandom
  readonly #nodes: readonly NodeProcess[]
  readonly #file: string
  readonly #failovers = new Failovers()
  readonly #happened: string[] = []
  readonly #problems: string[] = []
  readonly #over = new AbortController()
  #bank: Bank | undefined
  #startedAt = performance.now()
  #counted: { sum: number; times: number } | undefined

  /** All that it writes is in `directory`. */
  constructor(options: DemoOptions, directory: string, out: ScreenOutput) {
    this.#options = options
    this.#screen = new Screen(out)
    this.#random = new SeededRandom(options.seed)
    this.#file = join(directory, "demo.db")
    const { deathProof } = options
    this.#nodes = Array.from(
      { length: options.nodes },
      (_, index) =>
        new NodeProcess(`n${index + 1}`, { file: this.#file, deathProof }, (problem) => this.#broke(problem)),
    )
  }

  /** Until `signal` is aborted, or the time is over, or something is off. */
  async run(signal: AbortSignal): Promise<DemoResult> {
    const { seconds: limit, deathProof, ...bank } = this.#options
    this.#says(`starting ${this.#nodes.length} nodes (seed ${this.#options.seed})`)
    await Promise.all(this.#nodes.map((node) => node.start()))
    this.#bank = await Bank.open({ file: this.#file, deathProof }, bank)
    this.#startedAt = performance.now()
    const over = this.#over.signal
    signal.addEventListener("abort", () => this.#over.abort())
    if (signal.aborted) this.#over.abort()
    const ends = limit && setTimeout(() => this.#over.abort(), limit * 1_000)
    const shows = setInterval(() => this.#screen.show(this.#shown()), SHOW_MS)
    try {
      await this.#killAgainAndAgain(over)
      await this.#audit()
    } catch (error) {
      this.#broke(String((error as Error).stack))
    } finally {
      clearInterval(shows)
      clearTimeout(ends)
      this.#screen.clear()
    }
    return this.#result()
  }

  /** Ends all that was started. */
  async stop(): Promise<void> {
    await this.#bank?.stop()
    await Promise.all(this.#nodes.map((node) => node.stop(STOP_MS)))
  }

  async #killAgainAndAgain(over: AbortSignal): Promise<void> {
    for (;;) {
      await pause(this.#random.between(MIN_PAUSE_MS, MAX_PAUSE_MS), over)
      if (over.aborted) return
      const hosts = this.#nodes.filter(({ hosted }) => hosted.size > 0)
      if (hosts.length === 0) continue
      await this.#kill(this.#random.pick(hosts), over)
      if (!over.aborted) await this.#count()
    }
  }

  /** Resolves when its actors are back, and so is the node; or when the demo is over. */
  async #kill(node: NodeProcess, over: AbortSignal): Promise<void> {
    const hosted = new Map(node.hosted)
    const { pid } = node
    this.#failovers.killed(hosted.keys())
    const killedAt = performance.now()
    const killed = node.kill()
    const back = this.#untilBack(hosted, killedAt)
    // It is waited for below.
    back.catch(() => {})
    this.#says(`${node.name} (process ${pid}) was killed, and ${hosted.size} actors with it`)
    await killed
    await pause(this.#random.between(MIN_DOWN_MS, MAX_DOWN_MS), over)
    const started = node
      .start()
      .then(() => this.#says(`${node.name} is a member again (process ${node.pid})`))
    await within(PATIENCE_MS, `${node.name} and its actors are back`, Promise.all([back, started]))
  }

  async #untilBack(hosted: ReadonlyMap<string, number>, killedAt: number): Promise<void> {
    let first: number | undefined
    await Promise.all(
      [...hosted].map(async ([account, generation]) => {
        let answering: number
        do {
          answering = (await this.#opened.statement(account)).generation
        } while (answering <= generation)
        const tookMs = performance.now() - killedAt
        first ??= tookMs
        this.#failovers.back(account, tookMs)
      }),
    )
    const tookMs = performance.now() - killedAt
    this.#says(`its actors are back: the first after ${duration(first)}, the last after ${duration(tookMs)}`)
  }

  async #audit(): Promise<void> {
    this.#says("no more transfers; counting the money")
    await within(PATIENCE_MS, "the transfers that were begun have ended", this.#opened.close())
    await this.#count()
  }

  async #count(): Promise<void> {
    const { sum, problems } = await within(PATIENCE_MS, "all accounts are read", this.#opened.count())
    this.#counted = { sum, times: (this.#counted?.times ?? 0) + 1 }
    for (const problem of problems) this.#broke(problem)
  }

  get #opened(): Bank {
    if (this.#bank === undefined) throw new Error("the bank has not been opened")
    return this.#bank
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

  #shown(): Shown {
    const bank = this.#opened
    const recent = bank.takeRecent()
    return {
      elapsedMs: performance.now() - this.#startedAt,
      seconds: this.#options.seconds,
      nodes: this.#nodes.map(({ name, pid, state, kills, hosted }) => ({
        name,
        pid,
        state,
        kills,
        actors: hosted.size,
      })),
      accounts: this.#options.accounts,
      callsPerSecond: (recent.count * 1_000) / SHOW_MS,
      p50Ms: recent.quantile(0.5),
      p99Ms: recent.quantile(0.99),
      transfers: bank.transfers,
      retries: bank.retries,
      failovers: this.#shownFailovers(),
      total: bank.books.total,
      counted: this.#counted,
      happened: this.#happened,
    }
  }

  #shownFailovers() {
    const { kills, actors, away } = this.#failovers
    return {
      kills,
      actors,
      away,
      p50Ms: this.#failovers.quantile(0.5),
      p99Ms: this.#failovers.quantile(0.99),
    }
  }

  #result(): DemoResult {
    const { all, transfers, retries, books } = this.#opened
    return {
      elapsedMs: performance.now() - this.#startedAt,
      calls: all.count,
      p50Ms: all.quantile(0.5),
      p99Ms: all.quantile(0.99),
      transfers,
      retries,
      failovers: { ...this.#shownFailovers(), longestMs: this.#failovers.quantile(1) },
      total: books.total,
      counted: this.#counted,
      accounts: this.#options.accounts,
      problems: this.#problems,
    }
  }
}

export interface DemoResult {
  readonly elapsedMs: number
  readonly calls: number
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
  readonly transfers: number
  readonly retries: { readonly unknown: number; readonly notDelivered: number }
  readonly failovers: Shown["failovers"] & { readonly longestMs: number | undefined }
  readonly total: number
  readonly counted: { readonly sum: number; readonly times: number } | undefined
  readonly accounts: number
  readonly problems: readonly string[]
}

const SHOW_MS = 500
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 2_500
const MIN_DOWN_MS = 200
const MAX_DOWN_MS = 1_000
/** How long is waited for what should take seconds. */
const PATIENCE_MS = 60_000
const STOP_MS = 15_000

async function within<T>(ms: number, what: string, done: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms in vain until ${what}`)), ms)
  })
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

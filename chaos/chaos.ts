import { join } from "node:path"
import type { ActorSystem } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { pause } from "../tools/pause.js"
import type { AccountFigures } from "./account-judgement.js"
import type { AlarmFigures } from "./alarm-judgement.js"
import { Client, type Outcomes } from "./client.js"
import { DOWN_MS, TTL_MS } from "./cluster-settings.js"
import type { ChaosOptions } from "./command-line.js"
import { Generations } from "./generations.js"
import { type Inflicted, writeHistory } from "./history-file.js"
import { type Judgement, judge } from "./judgement.js"
import { Nemesis } from "./nemesis.js"
import type { NodeEvent } from "./node.js"
import { OnceCalls, type OnceResult } from "./once-calls.js"
import { Rig, type RigNode } from "./rig.js"
import { Rounds } from "./rounds.js"
import { schedule } from "./schedule.js"
import { counters, registers, type Subject } from "./subject.js"
import { Whereabouts } from "./whereabouts.js"

/**
 * One run: clients call actors while the schedule is carried out; then all nodes are killed and started once
 * more, every actor is read, and what the clients saw is judged.
 *
 * The clients are in one process, so that there is one order in which calls were made and answered. The check
 * goes by that order, and no two clocks are compared.
 */
export class Chaos {
  readonly #options: ChaosOptions
  readonly #directory: string
  readonly #rig: Rig
  readonly #nemesis: Nemesis
  readonly #whereabouts = new Whereabouts(() => this.#now())
  readonly #generations = new Generations()
  readonly #outcomes: Outcomes = { ok: 0, failed: 0, unknown: 0, reasons: new Map() }
  readonly #subjects = [registers(() => this.#now()), counters(() => this.#now())] as const
  readonly #onceCalls: OnceCalls
  readonly #inflicted: Inflicted[] = []
  readonly #problems: string[] = []
  readonly #counts = { fenced: 0, rejoined: 0, lateCommitted: 0, lateRefused: 0 }
  /** Who waits for a save of a node to be held up. */
  readonly #held = new Map<string, () => void>()
  /** Aborted when faults are to be over. */
  readonly #faultsEnd = new AbortController()
  /** Every actor is read then, also those that were lost long ago and not called since. */
  #isJudging = false
  #callers = 0
  #startedAt = performance.now()

  /** All that it writes is in `directory`. */
  constructor(options: ChaosOptions, directory: string) {
    this.#options = options
    this.#directory = directory
    this.#onceCalls = new OnceCalls({
      seed: options.seed,
      now: () => this.#now(),
      broke: (problem) => this.#problems.push(problem),
    })
    const rig = new Rig({
      store: options.store,
      directory,
      nodes: options.nodes,
      clients: CLIENTS,
      unfenced: options.unfenced,
      forgetful: options.forgetful,
      namespaces: options.namespaces,
      reported: (node, event) => this.#reported(node, event),
      broke: (problem) => this.#problems.push(problem),
    })
    this.#rig = rig
    this.#nemesis = new Nemesis({
      rig,
      whereabouts: this.#whereabouts,
      untilASaveIsHeld: (node) => this.#untilASaveIsHeld(node),
      wait: (ms) => pause(ms, this.#faultsEnd.signal),
      broke: (problem) => this.#problems.push(problem),
    })
  }

  get historyFile(): string {
    return join(this.#directory, "history.jsonl")
  }

  /** How far it is, in a line. */
  get progress(): string {
    const { ok, failed, unknown } = this.#outcomes
    const { nodes } = this.#rig
    const well = nodes.filter(({ state }) => state === "up").length
    const faults = [...this.#nemesis.done.values()].reduce((sum, count) => sum + count, 0)
    return `${Math.round(this.#now() / 1_000)} s, ${well} of ${nodes.length} nodes well, ${ok} calls answered, ${failed} failed, ${unknown} unknown, ${faults} faults, ${this.#whereabouts.takeovers} takeovers`
  }

  /** Ends early when `signal` is aborted, and judges what there is. */
  async run(signal: AbortSignal): Promise<ChaosResult> {
    await this.#rig.start()
    this.#startedAt = performance.now()
    const calling = new AbortController()
    const clients = this.#callAll(calling.signal)
    try {
      await this.#inflictAll(signal)
      await pause(CALM_MS, signal)
    } catch (error) {
      this.#problems.push(String((error as Error).stack))
    }
    calling.abort()
    await clients
    const elapsedMs = this.#now()
    const { takeovers, moves, failovers } = this.#whereabouts
    this.#isJudging = true
    const { judgements, accounts, alarms } = await this.#judge()
    await writeHistory(this.historyFile, this.#inflicted, this.#subjects, this.#onceCalls.lines())
    const found = judgements.flatMap(({ problems }) => problems)
    return {
      elapsedMs,
      faults: this.#nemesis.done,
      skipped: this.#nemesis.skipped,
      outcomes: this.#outcomes,
      takeovers,
      moves,
      failovers,
      ...this.#counts,
      accounts,
      alarms,
      judgements,
      generationsChecked: this.#generations.answers,
      problems: [...this.#problems, ...this.#generations.problems, ...found],
    }
  }

  /** Ends all that was started. */
  stop(): Promise<void> {
    return this.#rig.stop()
  }

  #reported(name: string, event: NodeEvent): void {
    switch (event.kind) {
      case "became":
        if (!this.#isJudging) this.#whereabouts.became(name, event)
        break
      case "fenced":
        this.#counts.fenced += 1
        this.#whereabouts.gone(name, "fenced")
        break
      case "rejoined":
        this.#counts.rejoined += 1
        this.#whereabouts.returned(name)
        break
      case "save":
        if (event.became === "held") this.#held.get(name)?.()
        else if (event.became === "committed") this.#counts.lateCommitted += 1
        else this.#counts.lateRefused += 1
    }
  }

  /** Each of the clients calls all kinds of actors, a few at a time. */
  async #callAll(over: AbortSignal): Promise<void> {
    const rounds = new Rounds(ROUND_MS, ACTORS, () => this.#now())
    const [register, counter] = this.#subjects
    const running = this.#rig.clients.flatMap((system, client) =>
      Array.from({ length: CALLS_AT_A_TIME }, (_, index) => {
        const name = `c${client + 1}.${index + 1}`
        return Promise.all([
          this.#caller(name, system, register).run(() => rounds.keys(), over),
          this.#caller(name, system, counter).run(() => rounds.keys(), over),
        ])
      }),
    )
    const once = this.#onceCalls.run(this.#rig.clients, () => rounds.keys(), over)
    await Promise.all([...running, once])
  }

  #caller<Input, Output>(name: string, system: ActorSystem, subject: Subject<Input, Output>) {
    this.#callers += 1
    return new Client({
      name,
      system,
      subject,
      generations: this.#generations,
      outcomes: this.#outcomes,
      random: new SeededRandom(this.#options.seed + this.#callers),
      broke: (problem) => this.#problems.push(problem),
    })
  }

  async #inflictAll(signal: AbortSignal): Promise<void> {
    const { seed, durationMs, nodes, faults: kinds, namespaces } = this.#options
    const plan = schedule({
      seed,
      durationMs,
      nodes,
      // In namespaces the clients are where packets are dropped, and theirs are not.
      clients: namespaces ? 0 : CLIENTS,
      kinds,
      ttlMs: TTL_MS,
      downMs: DOWN_MS,
      roundMs: ROUND_MS,
    })
    const running: Promise<void>[] = []
    const failed = (error: unknown) => void this.#problems.push(`${(error as Error).stack}`)
    for (const { atMs, fault } of plan) {
      await pause(atMs - this.#now(), signal)
      if (signal.aborted || this.#problems.length > 0) break
      const begunAt = this.#now()
      const inflicted = this.#nemesis.inflict(fault).then((isDone) => {
        if (!isDone) return
        this.#inflicted.push({ atMs: Math.round(begunAt), overMs: Math.round(this.#now()), fault })
      })
      // Those that follow are carried out and awaited all the same: nothing of it goes on while the run is judged.
      running.push(inflicted.catch(failed))
    }
    if (this.#problems.length === 0) await pause(durationMs - this.#now(), signal)
    this.#faultsEnd.abort()
    await Promise.all(running)
  }

  async #judge(): Promise<OnceResult> {
    await this.#rig.restart()
    const [register, counter] = this.#subjects
    const { clients } = this.#rig
    const system = clients[0] as ActorSystem
    const judgements = [
      await judge(register, this.#caller("last", system, register)),
      await judge(counter, this.#caller("last", system, counter)),
    ]
    const { unfenced, forgetful } = this.#options
    const isBroken = unfenced || forgetful || judgements.some(({ problems }) => problems.length > 0)
    const once = await this.#onceCalls.judge(clients, isBroken ? BROKEN_SETTLE_MS : SETTLE_MS)
    return { ...once, judgements: [...judgements, ...once.judgements] }
  }

  async #untilASaveIsHeld({ name }: RigNode): Promise<void> {
    const held = new Promise<void>((resolve) => this.#held.set(name, resolve))
    await Promise.race([held, pause(HELD_MS, this.#faultsEnd.signal)])
    this.#held.delete(name)
  }

  #now(): number {
    return performance.now() - this.#startedAt
  }
}

export interface ChaosResult {
  readonly elapsedMs: number
  readonly faults: Nemesis["done"]
  /** Faults whose node was not well enough for another one. */
  readonly skipped: number
  readonly outcomes: Readonly<Outcomes>
  readonly takeovers: number
  readonly moves: number
  readonly failovers: Whereabouts["failovers"]
  readonly fenced: number
  readonly rejoined: number
  /** Saves that were held up, by what the store said to them. */
  readonly lateCommitted: number
  readonly lateRefused: number
  readonly accounts: AccountFigures
  readonly alarms: AlarmFigures
  readonly judgements: readonly Judgement[]
  readonly generationsChecked: number
  readonly problems: readonly string[]
}

const CLIENTS = 3
/** For each client and each kind of actor. */
const CALLS_AT_A_TIME = 2
const ACTORS = 6
const ROUND_MS = 5_000
/** How long clients go on after the last fault. */
const CALM_MS = 2_000
/** How long to wait for a save to be in flight. */
const HELD_MS = 1_000
/**
 * How long messages and reminders may take once nothing goes wrong any more. An actor that has something to
 * deliver is started again after half a minute, and what failed is tried again after growing pauses.
 */
const SETTLE_MS = 75_000
/** The same, of a run that has failed already, or is to fail: what was lost never comes. */
const BROKEN_SETTLE_MS = 1_000

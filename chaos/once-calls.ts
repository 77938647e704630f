import type { ActorSystem } from "../src/index.js"
import { SeededRandom } from "../src/sim/index.js"
import { pause } from "../tools/pause.js"
import type { AccountState } from "./account-actor.js"
import { type AccountFigures, type AccountOperation, judgeAccounts, waitingFor } from "./account-judgement.js"
import type { AlarmState } from "./alarm-actor.js"
import { type AlarmFigures, isOverdue, judgeAlarms } from "./alarm-judgement.js"
import type { Judgement } from "./judgement.js"
import { OnceClient } from "./once-client.js"
import { accounts, alarms, type OnceSubject } from "./once-subject.js"

export interface OnceCallsOptions {
  readonly seed: number
  now(): number
  /** Something that no fault explains. */
  broke(problem: string): void
}

/**
 * The calls that are applied once, and the reminders: clients that make them, and the comparison of what the
 * actors have in the end with what clients were told.
 */
export class OnceCalls {
  readonly #options: OnceCallsOptions
  readonly #accounts
  readonly #alarms
  readonly #accountStates = new Map<string, AccountState>()
  readonly #alarmStates = new Map<string, AlarmState>()
  #clients = 0

  constructor(options: OnceCallsOptions) {
    this.#options = options
    this.#accounts = accounts(options.now)
    this.#alarms = alarms(options.now)
  }

  /** Each of the clients calls both kinds of actors until `over` is aborted. */
  async run(
    systems: readonly ActorSystem[],
    keys: () => readonly string[],
    over: AbortSignal,
  ): Promise<void> {
    const running = systems.flatMap((_, index) => [
      ...Array.from({ length: CALLS_AT_A_TIME }, (_, lane) =>
        this.#client(`c${index + 1}.${lane + 1}`, systems, this.#accounts).run(keys, over),
      ),
      this.#client(`c${index + 1}`, systems, this.#alarms).run(keys, over),
    ])
    await Promise.all(running)
  }

  /**
   * Judges what there is once nothing goes wrong any more. Until the messages that clients can expect have
   * arrived, nobody calls the accounts that have sent them: that a sender which nobody calls is started again
   * is for the keepers to see to. What has not happened `settleMs` after one looks for it is taken for lost.
   */
  async judge(systems: readonly ActorSystem[], settleMs: number): Promise<OnceResult> {
    const dueBy = Date.now()
    const { log } = this.#accounts
    const acknowledged = log.operations.filter(({ ending }) => ending === "acknowledged")
    await this.#receive(systems, acknowledged, settleMs)
    for (const key of waitingFor(acknowledged, this.#accountStates)) {
      this.#options.broke(`account ${key} has not received everything within ${settleMs} ms`)
    }
    await Promise.all([
      this.#finish(systems, this.#accounts, settleMs),
      this.#finish(systems, this.#alarms, settleMs),
    ])
    const senders = new Set(log.operations.map(({ key }) => key))
    await this.#read(systems, this.#accounts, senders, this.#accountStates)
    const applied = new Set([...this.#accountStates.values()].flatMap((state) => state.applied))
    const sending = log.operations.filter(({ id }) => applied.has(id))
    await this.#receive(systems, sending, settleMs)
    const receivers = log.operations.flatMap(({ input }) => input.passOn?.to ?? [])
    await this.#read(systems, this.#accounts, new Set([...senders, ...receivers]), this.#accountStates)
    await this.#fire(systems, dueBy, settleMs)
    const ofAccounts = judgeAccounts(log.operations, this.#accountStates)
    const ofAlarms = judgeAlarms(this.#alarms.log.operations, this.#alarmStates, dueBy)
    return {
      accounts: ofAccounts.figures,
      alarms: ofAlarms.figures,
      judgements: [
        judgementOf(this.#accounts, this.#accountStates, ofAccounts.problems),
        judgementOf(this.#alarms, this.#alarmStates, ofAlarms.problems),
      ],
    }
  }

  /** What the history has of it: each operation, and the last state of each actor. */
  *lines(): Generator<object> {
    for (const [{ name, log }, states] of [
      [this.#accounts, this.#accountStates],
      [this.#alarms, this.#alarmStates],
    ] as const) {
      for (const operation of log.operations) yield { subject: name, operation }
      for (const [key, state] of states) yield { subject: name, key, state }
    }
  }

  /** Reads the receivers of what these operations pass on until they have it. */
  async #receive(
    systems: readonly ActorSystem[],
    operations: readonly AccountOperation[],
    settleMs: number,
  ): Promise<void> {
    const deadline = AbortSignal.timeout(settleMs)
    for (;;) {
      const waiting = waitingFor(operations, this.#accountStates)
      if (waiting.size === 0 || deadline.aborted) return
      await this.#read(systems, this.#accounts, waiting, this.#accountStates)
      await pause(LOOK_AGAIN_MS, deadline)
    }
  }

  /** Reads the alarms until everything that was due at a time has fired. */
  async #fire(systems: readonly ActorSystem[], dueBy: number, settleMs: number): Promise<void> {
    const deadline = AbortSignal.timeout(settleMs)
    const states = this.#alarmStates
    let late = new Set(this.#alarms.log.operations.map(({ key }) => key))
    for (;;) {
      await this.#read(systems, this.#alarms, late, states)
      late = new Set([...late].filter((key) => isOverdue(states.get(key), dueBy)))
      if (late.size === 0 || deadline.aborted) return
      await pause(LOOK_AGAIN_MS, deadline)
    }
  }

  /** Attempts what was left open until it is answered, and some of what has a name once more. */
  async #finish<Input, Output, State>(
    systems: readonly ActorSystem[],
    subject: OnceSubject<Input, Output, State>,
    settleMs: number,
  ): Promise<void> {
    const deadline = AbortSignal.timeout(settleMs)
    const client = this.#client("last", systems, subject)
    const { operations } = subject.log
    const open = operations.filter(({ ending }) => ending === "open")
    await inLanes(open, (operation) => client.carryOut(operation, deadline))
    for (const { id, key, ending } of open) {
      if (ending === "open") {
        this.#options.broke(`operation ${id} of ${subject.name} ${key} has no answer`)
      }
    }
    const named = operations.filter(({ isNamed, ending }) => isNamed && ending === "acknowledged")
    const step = Math.max(1, Math.ceil(named.length / ONCE_MORE))
    const again = named.filter((_, index) => index % step === 0)
    await inLanes(again, (operation) => client.attempt(operation))
  }

  async #read<Input, Output, State>(
    systems: readonly ActorSystem[],
    subject: OnceSubject<Input, Output, State>,
    keys: ReadonlySet<string>,
    states: Map<string, State>,
  ): Promise<void> {
    const system = systems[0] as ActorSystem
    await inLanes([...keys], async (key) => {
      for (let left = LOOKS; ; left -= 1) {
        try {
          states.set(key, await subject.look(system, key, LOOK_MS))
          return
        } catch (error) {
          if (left > 1) continue
          this.#options.broke(`${subject.name} ${key}: it could not be read: ${(error as Error).message}`)
          return
        }
      }
    })
  }

  #client<Input, Output, State>(
    name: string,
    systems: readonly ActorSystem[],
    subject: OnceSubject<Input, Output, State>,
  ): OnceClient<Input, Output, State> {
    const { seed, broke } = this.#options
    this.#clients += 1
    return new OnceClient({
      name,
      systems,
      subject,
      random: new SeededRandom(seed + FIRST_SEED + this.#clients),
      broke,
    })
  }
}

export interface OnceResult {
  readonly accounts: AccountFigures
  readonly alarms: AlarmFigures
  readonly judgements: readonly Judgement[]
}

function judgementOf(
  { name, log }: { readonly name: string; readonly log: { readonly operations: readonly unknown[] } },
  states: ReadonlyMap<string, unknown>,
  problems: readonly string[],
): Judgement {
  return { subject: name, actors: states.size, operations: log.operations.length, problems }
}

async function inLanes<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all]
  const lane = async () => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) await work(one)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** The number of operations on accounts that each client has in flight. */
const CALLS_AT_A_TIME = 2
/** The seeds of the other clients are below. */
const FIRST_SEED = 1_000
const LANES = 8
const LOOKS = 6
const LOOK_MS = 10_000
const LOOK_AGAIN_MS = 500
/** The number of operations whose answer is known, and which are attempted once more. */
const ONCE_MORE = 200

import { type ActorSystem, type CallOptions, withOptions } from "../src/index.js"
import type { SeededRandom } from "../src/sim/index.js"
import { Account, type AccountState, type Deposit, type Receipt } from "./account-actor.js"
import { Alarm, type AlarmState, type Plan } from "./alarm-actor.js"
import { type LoggedOperation, OperationLog } from "./operation-log.js"

/** A kind of actor whose methods are applied once: what is asked of it, and what it has in the end. */
export interface OnceSubject<Input, Output, State> {
  readonly name: string
  readonly log: OperationLog<Input, Output>
  /** How long a client rests between two operations, at most. */
  readonly breathMs: number
  /** What one client wants, one after the other. */
  wishes(random: SeededRandom): Wishes<Input, Output>
  call(system: ActorSystem, operation: LoggedOperation<Input, Output>, options: CallOptions): Promise<Output>
  look(system: ActorSystem, key: string, timeoutMs: number): Promise<State>
}

export interface Wishes<Input, Output> {
  /** `keys` are those of the actors of the present round. */
  next(keys: readonly string[]): { readonly key: string; readonly input: Input }
  /** The client has done what it could for the operation. */
  ended(operation: LoggedOperation<Input, Output>): void
}

export type Accounts = OnceSubject<Deposit, Receipt, AccountState>
export type Alarms = OnceSubject<AlarmInput, number, AlarmState>

export type AlarmInput =
  | { readonly kind: "set"; readonly name: string; readonly plan: Plan }
  | { readonly kind: "cancel"; readonly name: string }

/**
 * Accounts, some of whose deposits are passed on. Those to which they are passed on pass on nothing, so they
 * can be read while nobody has called the senders of their messages.
 */
export function accounts(now: () => number): Accounts {
  return {
    name: "account",
    log: new OperationLog("o", now),
    breathMs: 60,
    wishes: (random) => ({
      next: (keys) => {
        const amount = 1 + random.below(100)
        const passOn = random.chance(0.3)
          ? { to: `${random.pick(keys)}-savings`, amount: 1 + random.below(amount) }
          : undefined
        return { key: random.pick(keys), input: { amount, passOn } }
      },
      ended: () => {},
    }),
    call: (system, { id, key, input }, options) =>
      withOptions(system.actor(Account, key), options).deposit(id, input),
    look: (system, key, timeoutMs) => withOptions(system.actor(Account, key), { timeoutMs }).look(),
  }
}

/** Alarms whose clients set reminders, and cancel some of them later, whatever round it is then. */
export function alarms(now: () => number): Alarms {
  let reminders = 0
  return {
    name: "alarm",
    log: new OperationLog("a", now),
    breathMs: 500,
    wishes: (random) => {
      const toCancel: { readonly key: string; readonly name: string; readonly atMs: number }[] = []
      return {
        next: (keys) => {
          const due = toCancel.findIndex(({ atMs }) => atMs <= now())
          const [cancelled] = due < 0 ? [] : toCancel.splice(due, 1)
          if (cancelled !== undefined) {
            return { key: cancelled.key, input: { kind: "cancel", name: cancelled.name } }
          }
          reminders += 1
          return {
            key: random.pick(keys),
            input: { kind: "set", name: `reminder-${reminders}`, plan: drawPlan(random) },
          }
        },
        ended: ({ key, input, ending }) => {
          if (input.kind !== "set" || ending === "refused") return
          const cancelAfterMs = drawCancel(random, input.plan)
          if (cancelAfterMs === undefined) return
          toCancel.push({ key, name: input.name, atMs: now() + cancelAfterMs })
        },
      }
    },
    call: (system, { id, key, input }, options) => {
      const alarm = withOptions(system.actor(Alarm, key), options)
      return input.kind === "set" ? alarm.set(id, input.name, input.plan) : alarm.cancel(id, input.name)
    },
    look: (system, key, timeoutMs) => withOptions(system.actor(Alarm, key), { timeoutMs }).look(),
  }
}

function drawPlan(random: SeededRandom): Plan {
  if (random.chance(0.7)) {
    return { kind: "once", afterMs: Math.round(random.between(0, random.chance(0.7) ? 8_000 : 20_000)) }
  }
  const missed = random.pick(["latest", "all"] as const)
  const [least, most] = random.chance(0.9) ? [1_000, LONGEST_CANCELLED_MS] : [5_000, 15_000]
  return { kind: "every", everyMs: Math.round(random.between(least, most)), missed }
}

/**
 * How long after a reminder was set it is cancelled; undefined if it is not. Those that fire often are, or there would
 * be ever more of them.
 */
function drawCancel(random: SeededRandom, plan: Plan): number | undefined {
  if (plan.kind === "every") {
    return plan.everyMs > LONGEST_CANCELLED_MS ? undefined : random.between(3_000, 20_000)
  }
  return random.chance(0.2) ? random.between(0, plan.afterMs + 200) : undefined
}

const LONGEST_CANCELLED_MS = 4_000

import type { Stage } from "../../src/sim/index.js"
import type { Cluster } from "./cluster.js"
import type { ClusterEvent, Ended, Judged, Made, Outcome, TurnBegan } from "./events.js"
import { isRare } from "./performers.js"

/** Every call: that it ends once and with its own answer, and that what is said of it is true. */
export class CallLedger {
  readonly #cluster: Cluster
  readonly #stage: Stage
  /** Nothing is done that could make a call fail. */
  readonly #isCalm: boolean
  readonly #calls = new Map<number, Entry>()
  #open = 0
  #ticks = 0
  #lastFailure: { readonly message: string; readonly atMs: number } | undefined

  /** Where `delivers`, every call arrives as long as no fault is on. */
  constructor(cluster: Cluster, stage: Stage, delivers: boolean) {
    this.#cluster = cluster
    this.#stage = stage
    this.#isCalm = delivers && cluster.isFaultless
    stage.invariant<ClusterEvent>("CorrelationOnce", (event) => {
      if (event.kind === "made") this.#made(event)
      if (event.kind === "ended") return this.#ended(event)
      return event.kind === "judged" ? this.#allEnded(event) : false
    })
    stage.invariant<ClusterEvent>("once at most", (event) =>
      event.kind === "turn" ? this.#ran(event) : false,
    )
    stage.invariant<ClusterEvent>("what was not delivered is not run", (event) => {
      const op = event.kind === "turn" || event.kind === "ended" ? event.op : undefined
      return op === undefined ? false : this.#isTrue(op)
    })
    stage.invariant<ClusterEvent>("a call that would wait for itself is refused", (event) =>
      event.kind === "ended" ? this.#isRefused(event) : false,
    )
    stage.invariant<ClusterEvent>("a call waits no longer than it is to, and no shorter", (event) =>
      event.kind === "ended" ? this.#inTime(event) : false,
    )
    if (!delivers) return
    stage.invariant<ClusterEvent>("Delivery", (event) => {
      if (!this.#isCalm) return false
      if (event.kind === "ended") return this.#delivered(event)
      return event.kind === "judged" ? this.#allArrived() : false
    })
  }

  #made(made: Made): void {
    this.#calls.set(made.op, { made, ran: undefined, outcome: undefined, ...NOT_YET })
    if (!made.isOneWay) this.#open += 1
  }

  /** The run is over, and all calls have had their time. */
  judge(): void {
    const hosts = new Set(Array.from(this.#cluster.residents.values(), ({ node }) => node.name))
    this.#stage.record({ kind: "judged", hosts })
  }

  /** How many calls have not ended. */
  get open(): number {
    return this.#open
  }

  #ended({ op, outcome }: Ended): string | undefined {
    const entry = this.#calls.get(op)
    if (entry === undefined) return `${op} ends, and was never made`
    if (entry.outcome !== undefined)
      return `${op} ends a second time: ${shown(outcome)}, after ${shown(entry.outcome)}`
    entry.outcome = outcome
    entry.endedAt = this.#tick()
    if (!entry.made.isOneWay) this.#open -= 1
    if (outcome.kind === "answered") {
      if (outcome.op !== op) return `${op} was given the answer to ${outcome.op}`
      return entry.ran === undefined ? `${op} was answered, and not run` : undefined
    }
    this.#note(outcome)
    return undefined
  }

  #tick(): number {
    this.#ticks += 1
    return this.#ticks
  }

  #note({ code, message }: Outcome & { kind: "failed" }): void {
    if (code !== "Activation") return
    const atMs = this.#stage.nowMs
    const { message: before, atMs: beforeMs } = this.#lastFailure ?? {}
    if (before === message && beforeMs === atMs) {
      this.#stage.sometimes("several wait for an actor that fails to start")
    }
    this.#lastFailure = { message, atMs }
  }

  #allEnded({ hosts }: Judged): string | undefined {
    for (const { made, outcome } of this.#calls.values()) {
      if (outcome !== undefined || made.isOneWay || !hosts.has(made.host)) continue
      return `${made.op} to ${made.id}.${made.method} was made on ${made.host}, and has not ended`
    }
    return undefined
  }

  #ran({ op, by }: TurnBegan): string | undefined | false {
    if (op === undefined) return false
    const entry = this.#calls.get(op)
    if (entry === undefined) return `${op} is run on ${by}, and was never made`
    if (entry.ran !== undefined) return `${op} is run on ${by}, and was run on ${entry.ran}`
    entry.ran = by
    entry.ranAt = this.#tick()
    return undefined
  }

  #isTrue(op: number): string | undefined {
    const { ran, outcome } = this.#calls.get(op) ?? {}
    if (ran === undefined || outcome?.kind !== "failed" || outcome.delivery !== "not-delivered")
      return undefined
    return `${op} was run on ${ran}, and is said not to have been delivered: ${shown(outcome)}`
  }

  #isRefused({ op, outcome }: Ended): string | undefined | false {
    const entry = this.#calls.get(op)
    if (entry?.made.isCycle !== true) return false
    const isCycle = outcome.kind === "failed" && outcome.code === "CallCycle"
    this.#stage.sometimes("a cycle is found", isCycle)
    if (this.#isFree(entry)) return undefined
    // Nor may it wait until its time is up, behind the turn that waits for it.
    const isTimedOut = outcome.kind === "failed" && outcome.code === "Timeout"
    if (isTimedOut && outcome.delivery === "not-delivered" && outcome.message.includes("was busy")) {
      return `${op} waits for itself, and was not refused: ${shown(outcome)}`
    }
    return outcome.kind === "answered" ? `${op} waits for itself, and was answered` : undefined
  }

  /**
   * The actor does not wait: it never did, or its call had ended by then; or it has begun anew meanwhile, for
   * what goes wrong with nodes.
   */
  #isFree({ made, ranAt, endedAt }: Entry): boolean {
    const behind = made.waitsBehind === undefined ? undefined : this.#calls.get(made.waitsBehind)
    if (behind === undefined) return !this.#isCalm && ranAt < Number.POSITIVE_INFINITY
    if (behind.made.isUnawaited || behind.endedAt < Math.min(ranAt, endedAt)) return true
    return !this.#isCalm && ranAt < Number.POSITIVE_INFINITY
  }

  /** A process that stands still hears of it late. */
  #inTime({ op, outcome, tookMs }: Ended): string | undefined | false {
    if (outcome.kind !== "failed" || outcome.code !== "Timeout") return false
    const { made } = this.#calls.get(op) as Entry
    if (made.isOneWay) return false
    const { timeoutMs } = made
    // Or else it is that of a call that was made in its turn.
    if (!outcome.message.includes(`${made.id}.${made.method} `)) return false
    if (tookMs < timeoutMs - 1) return `${op} has ${timeoutMs} ms and timed out after ${tookMs}`
    if (!this.#isCalm || tookMs <= timeoutMs * 1.1 + 20) return undefined
    return `${op} has ${timeoutMs} ms and timed out after ${tookMs}`
  }

  #delivered({ op, outcome }: Ended): string | undefined {
    const { made } = this.#calls.get(op) as Entry
    if (outcome.kind === "answered" || this.#isExpected(made, outcome.code, outcome.message)) return undefined
    return `${op} to ${made.id}.${made.method} on ${made.host} failed, and nothing is made to fail: ${shown(outcome)}`
  }

  #isExpected(
    { host, id, isImpatient, isCycle, isUnawaited, method }: Made,
    code: string,
    message: string,
  ): boolean {
    if (this.#cluster.leaving.has(host)) return true
    switch (code) {
      case "Overloaded":
        return true
      case "Activation":
        return message.endsWith("not today")
      case "CallCycle":
        // That nobody waits for a call cannot be seen: it is refused as if its turn did.
        return isCycle || isUnawaited || method === "pass"
      case "Fenced":
        return isUnawaited || this.#cluster.hasLeftBehind
      case "NodeUnreachable":
        return this.#cluster.hasLeftBehind
      case "UnknownActorType":
        // A node that has just started may not have seen their host yet.
        return isRare(id) || (method === "pass" && isRare(`${message.split(":")[0]}/`))
      case "Timeout":
      case "Cancelled":
        return isImpatient || method === "pass"
      default:
        return false
    }
  }

  #allArrived(): string | undefined {
    for (const { made, ran, outcome } of this.#calls.values()) {
      if (!made.isOneWay || ran !== undefined || outcome !== undefined) continue
      if (this.#cluster.leaving.has(made.host)) continue
      // Where the type was not seen yet, it was refused, perhaps before anybody listened on a new node.
      if (made.isUnawaited && isRare(made.id)) continue
      return `${made.op}, one-way to ${made.id}, was made on ${made.host}, and neither run nor given up`
    }
    return undefined
  }
}

const NOT_YET = { ranAt: Number.POSITIVE_INFINITY, endedAt: Number.POSITIVE_INFINITY }

interface Entry {
  readonly made: Made
  ran: string | undefined
  outcome: Outcome | undefined
  /** In the order of all that happens. */
  ranAt: number
  endedAt: number
}

function shown(outcome: Outcome): string {
  if (outcome.kind === "answered") return "answered"
  return `${outcome.code}, ${outcome.delivery}: ${outcome.message}`
}

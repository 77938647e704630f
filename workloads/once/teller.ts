import {
  type ActorHandle,
  CallError,
  MessageStuck,
  OperationMismatchError,
  withOptions,
} from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Cluster, type Place, sleep } from "../cluster/cluster.js"
import { ClusterNode } from "../cluster/cluster-node.js"
import { NodeTap } from "../cluster/node-tap.js"
import type { Intent, IntentBook, Outcome } from "./intent-book.js"
import { type Seen, type Slip, type Vault, type VaultTerms, vaultOn } from "./vault.js"

/** What the tellers of a run go by. */
export interface Counter {
  readonly book: IntentBook
  readonly vaults: VaultTerms
  readonly tellers: number
  readonly pauseMs: number
  /** How many calls a teller makes at a time, at most. */
  readonly burst: number
  /** How many of the calls are given up sooner than need be. */
  readonly impatience: number
}

/** A node that hosts vaults, and the clients in its process, which carry out intents. */
export class Teller {
  readonly node: ClusterNode
  readonly #tap: NodeTap
  readonly #life: Life
  readonly #counter: Counter
  readonly #random: SeededRandom
  /** The numbers of operations of this process whose outcome stayed unknown, by vault. */
  readonly #unknown = new Map<string, number>()

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(life: Life, { name }: Place, cluster: Cluster, counter: Counter): Promise<Teller> {
    const tap = new NodeTap(name, life, cluster)
    const node = await ClusterNode.start(tap, { actors: [vaultOn(life, counter.vaults)] })
    return new Teller(tap, node, counter)
  }

  private constructor(tap: NodeTap, node: ClusterNode, counter: Counter) {
    this.node = node
    this.#tap = tap
    this.#life = tap.life
    this.#counter = counter
    this.#random = new SeededRandom(tap.life.ports.random.uint32())
    const { office } = counter.book
    node.system.events.subscribe(MessageStuck, ({ target }) => {
      office.stuck.add(target.key)
      this.#life.sometimes("a letter is shown as stuck")
    })
    for (let teller = 0; teller < counter.tellers; teller += 1) void this.#serve()
  }

  /** The name of this process among all callers. */
  get caller(): string {
    return this.node.actors.host.ledger.caller
  }

  unknownOf(vault: string): number {
    return this.#unknown.get(vault) ?? 0
  }

  /**
   * Attempts an intent, and records what came of it. Returns the position that it was answered with, if it
   * was.
   */
  async attempt(intent: Intent): Promise<number | undefined> {
    const { operation, isNamed, wish } = intent
    const isFirst = !intent.isAttempted
    intent.isAttempted = true
    this.#noteOthers(intent)
    intent.attempts.push(this.#life.name)
    try {
      const slip = await this.#call(intent)
      this.#told(intent, { kind: "applied", position: slip.position })
      this.#life.sometimes("an unknown outcome is cleared up", operation !== undefined && !isNamed)
      this.#life.sometimes("an answer is in a row", wish.length > 500)
      return slip.position
    } catch (error) {
      this.#failed(intent, error, isFirst)
      return undefined
    } finally {
      intent.attempts.splice(intent.attempts.indexOf(this.#life.name), 1)
    }
  }

  #noteOthers({ attempts }: Intent): void {
    const { cluster } = this.#tap
    const dead = attempts.filter((life) => !cluster.isAlive(life))
    this.#life.sometimes("an intent is repeated while its first caller waits", attempts.length > dead.length)
    this.#life.sometimes("an intent is repeated after its first caller has died", dead.length > 0)
  }

  async look(vault: string, attempts = 1): Promise<Seen | undefined> {
    try {
      const seen = await this.#vault(vault).look()
      this.#life.record({ kind: "looked", vault, seen })
      return seen
    } catch (error) {
      this.#checkFailure(error)
      return attempts > 1 ? this.look(vault, attempts - 1) : undefined
    }
  }

  async #serve(): Promise<void> {
    const { book, pauseMs } = this.#counter
    for (;;) {
      await sleep(this.#life, this.#random.between(0, pauseMs))
      if (this.#isOver) return
      const vault = this.#random.pick(book.vaults)
      const act = this.#random.below(12)
      if (act === 0) await this.look(vault)
      else if (act === 1) await this.#note(vault)
      else if (act === 2) await this.#other()
      else if (act === 3) await this.#brief()
      else if (act < 6 || book.isFull) await this.#again()
      else await this.#burst(vault)
    }
  }

  /** Repeats what somebody has attempted, here or elsewhere, and who may still be at it. */
  async #again(): Promise<void> {
    const intent = this.#counter.book.old(this.#random)
    if (intent === undefined) return
    this.#life.sometimes("an intent is repeated whose outcome is known", intent.outcome !== undefined)
    await this.attempt(intent)
  }

  /** Uses the name of an intent for another one. */
  async #other(): Promise<void> {
    const intent = this.#counter.book.used(this.#random)
    if (intent === undefined) return
    const { operation, vault, method, wish } = intent
    const handle = withOptions(this.#vault(vault), { operation: operation as string })
    try {
      await handle[method]({ ...wish, padding: wish.padding + 1 })
      this.#life.record({ kind: "reused", intent, isRefused: false })
    } catch (error) {
      if (!(error instanceof OperationMismatchError)) return this.#checkFailure(error)
      this.#life.record({ kind: "reused", intent, isRefused: true })
      this.#life.sometimes("a name is used for something else")
    }
  }

  /** Repeats an intent whose name may have been forgotten. */
  async #brief(): Promise<void> {
    const intent = this.#counter.book.brief(this.#random)
    if (intent !== undefined) await this.attempt(intent)
  }

  /** Makes several calls without waiting, which the vault has to apply in this order. */
  async #burst(vault: string): Promise<void> {
    const { book, burst } = this.#counter
    const count = this.#random.chance(0.5) ? 1 : 1 + this.#random.below(burst)
    const intents = Array.from({ length: count }, () => book.new(this.#random, vault))
    if (count >= 10) this.#cutOff(vault)
    const answers = await Promise.all(intents.map((intent) => this.attempt(intent)))
    const positions = answers.filter((one, at) => one !== undefined && isInOrder(intents[at] as Intent))
    if (positions.length > 1) this.#life.record({ kind: "burst", vault, positions: positions as number[] })
  }

  /** Keeps the node of a vault from the store for longer than its lease lasts, if there are such faults. */
  #cutOff(vault: string): void {
    const { stage, store, settings } = this.#tap.cluster
    const home = this.#counter.vaults.gate.homeOf(vault)
    if (home === undefined || !this.#random.chance(stage.faults["store-cut"])) return
    const heal = store.cutOff(home.split(".")[0] as string)
    void stage.sleep(this.#random.between(1.5, 3) * settings.lease.ttlMs).then(heal)
  }

  async #note(vault: string): Promise<void> {
    try {
      const { book } = this.#counter
      await this.#vault(vault).note(book.isFull ? [] : book.office.draw(this.#random, book.vaults))
    } catch (error) {
      this.#checkFailure(error)
    }
  }

  #call({ vault, method, wish, operation, isNamed }: Intent): Promise<Slip> {
    const isImpatient = !this.#tap.cluster.isOver && this.#random.chance(this.#counter.impatience)
    const name = operation ?? (isNamed ? `order ${wish.intent}` : undefined)
    const handle = withOptions(this.#vault(vault), {
      ...(isImpatient && { timeoutMs: this.#random.between(1, 80) }),
      ...(name !== undefined && { operation: name }),
    })
    return handle[method](wish)
  }

  #told(intent: Intent, outcome: Outcome): void {
    const isKnown = intent.outcome !== undefined
    intent.outcome ??= outcome
    this.#life.record({ kind: "told", intent, outcome })
    this.#life.sometimes(`an intent ${outcome.kind}`)
    this.#life.sometimes("a throw is remembered", isKnown && outcome.kind === "threw")
    if (!isKnown) this.#tap.cluster.stage.operation()
  }

  #failed(intent: Intent, error: unknown, isFirst: boolean): void {
    if (!(error instanceof CallError)) {
      return this.#told(intent, { kind: "threw", message: (error as Error).message })
    }
    this.#checkFailure(error)
    const { operation, isNamed, vault, wish } = intent
    if (error.delivery === "not-delivered") {
      // Of other intents, an attempt may have been made that says something else.
      if (!isFirst || operation !== undefined) return
      intent.isLost = true
      return this.#life.record({ kind: "undone", intent })
    }
    this.#life.sometimes("the outcome of an intent is unknown")
    const isEnded = (error as { readonly code?: string }).code === "OperationEnded"
    const expected = operation ?? (isNamed ? `order ${wish.intent}` : undefined)
    const isRight = error.operation !== undefined && error.operation === (expected ?? error.operation)
    this.#life.always("an unknown outcome names its operation", isRight || isEnded, () => String(error))
    if (isEnded || intent.method === "brief") {
      intent.isLost = true
    } else if (operation === undefined) {
      intent.operation = error.operation
    }
    if (operation === undefined) this.#unknown.set(vault, this.unknownOf(vault) + 1)
  }

  /** A call may fail only for what is wrong with its way. */
  #checkFailure(error: unknown): void {
    const { code = "none" } = error as { readonly code?: string }
    const isExpected = error instanceof CallError && !WRONG.has(code)
    this.#life.always("calls fail only for what is wrong with their way", isExpected, () => String(error))
    this.#life.sometimes(`a call fails: ${code}`)
    const { cluster } = this.#tap
    this.#life.always("calls succeed as long as no fault is on", !cluster.isFaultless, () => String(error))
  }

  #vault(key: string): ActorHandle<Vault> {
    return this.node.system.actor<Vault>("Vault", key)
  }

  get #isOver(): boolean {
    return this.#tap.cluster.isOver || this.node.isLeaving
  }
}

/** These say that the call itself is wrong, and it never is. */
const WRONG = new Set(["CallCycle", "UnknownMethod", "InvalidMessage", "OperationMismatch"])

/**
 * A named one may have been repeated by somebody else, before it or behind it. One that throws is not remembered
 * as long as it is not repeated: if that answer is lost, it is repeated, and applied behind those that followed.
 */
function isInOrder({ isNamed, method }: Intent): boolean {
  return !isNamed && (method === "put" || method === "brief")
}

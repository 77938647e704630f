import {
  type ActorHandle,
  CallError,
  exportActors,
  ImportError,
  IndexBuildingError,
  importActors,
  NotUniqueError,
  StoreUnavailableError,
  withOptions,
} from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Cluster, type Place, sleep } from "../cluster/cluster.js"
import { ClusterNode } from "../cluster/cluster-node.js"
import { NodeTap } from "../cluster/node-tap.js"
import { copyOf, exportedIn } from "./exports.js"
import { HungSaves } from "./hung-saves.js"
import { differs, isPageOf } from "./pages.js"
import { type Applied, type ProfileActor, type ProfileType, profilesOn, TYPES } from "./profile.js"
import { type RegistrarRules, recordOf } from "./registrar-rules.js"
import { idOf } from "./stored-profiles.js"

/** A node that hosts profiles, and a client in its process, which changes, lists, locates and copies them. */
export class Registrar {
  readonly node: ClusterNode
  readonly #tap: NodeTap
  readonly #life: Life
  readonly #rules: RegistrarRules
  readonly #random: SeededRandom
  readonly #hungSaves: HungSaves

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(
    life: Life,
    { name, index }: Place,
    cluster: Cluster,
    rules: RegistrarRules,
  ): Promise<Registrar> {
    const tap = new NodeTap(name, life, cluster)
    const version = index < rules.oldNodes ? 0 : 1
    const hosts = index < rules.hosts
    const node = await ClusterNode.start(tap, {
      actors: hosts ? profilesOn(life, { version, plans: version * rules.plans }) : [],
    })
    return new Registrar(tap, node, rules)
  }

  private constructor(tap: NodeTap, node: ClusterNode, rules: RegistrarRules) {
    this.node = node
    this.#tap = tap
    this.#life = tap.life
    this.#rules = rules
    this.#random = new SeededRandom(tap.life.ports.random.uint32())
    this.#hungSaves = new HungSaves(tap, rules, {
      name: (type, key, name) => this.#named(type, key, name),
      destroy: (type, key) => this.#destroy(type, key),
    })
    for (let each = 0; each < rules.clients; each += 1) void this.#work()
  }

  /** Lists all profiles of a type by their pages. */
  async listAll(type: ProfileType): Promise<readonly string[]> {
    const keys: string[] = []
    for (let after: string | undefined; ; ) {
      const page = await this.#page(type, after, 3)
      keys.push(...page.keys)
      if (page.next === undefined) return keys
      after = page.next
    }
  }

  /** Says where a profile is, if that was so at some moment. */
  async locate(type: ProfileType, key: string): Promise<string | undefined> {
    const { stored } = this.#rules
    const record = recordOf(idOf(type, key))
    const sight = stored.watch(() => stored.placeOf(record))
    try {
      const place = await this.node.system.locate(type, key)
      const said = place && `${place.node} ${place.generation}`
      this.#life.always("LocatedTrue", sight.seen.includes(said), () => {
        return `${type}/${key} was located at ${said}, and was at ${sight.seen.join(", ")}`
      })
      this.#life.sometimes("an actor is located", said !== undefined)
      this.#life.sometimes("an actor moves while it is located", new Set(sight.seen).size > 1)
      return said
    } finally {
      sight.close()
    }
  }

  /** What a profile says of itself, once. */
  read(type: ProfileType, key: string) {
    return this.#actor(type, key).read()
  }

  async #work(): Promise<void> {
    const random = this.#random
    for (;;) {
      await sleep(this.#life, random.between(0, this.#rules.pauseMs))
      if (this.#isOver) return
      const type = random.pick(TYPES)
      try {
        await this.#act(type, random.pick(this.#rules.keys))
        this.#tap.cluster.stage.operation()
      } catch (error) {
        this.#checkFailure(error)
      }
    }
  }

  #act(type: ProfileType, key: string): Promise<unknown> {
    switch (this.#random.below(25)) {
      case 14:
      case 15:
        return this.#find(type, "plan", this.#random.pick(PLANS))
      case 16:
      case 17:
        return this.#find(type, "name", this.#random.pick(["ada", "ben", "cyd"]))
      case 18:
        return this.#close(type, key)
      case 19:
        return this.#destroy(type, key)
      case 20:
      case 21:
      case 22:
        return this.#hungSaves.try(type)
      case 23:
        return this.#remindedAndDestroyed(type, key)
      case 0:
      case 1:
        return this.#page(type, this.#random.chance(0.5) ? key : undefined, 1 + this.#random.below(5))
      case 2:
        return this.#iterate(type)
      case 3:
      case 4:
        return this.locate(type, key)
      case 5:
        return this.#exported(type)
      case 6:
      case 12:
      case 13:
        return this.#copy(type)
      case 7:
        return this.#remember(type, key)
      case 8:
        return this.#answered(type, key, (actor, operation) =>
          actor.remind(operation, this.#random.between(0, 5_000)),
        )
      case 9:
        return this.#answered(type, key, (actor, operation) => actor.changePlainly(this.#draw(operation)))
      default:
        return this.#answered(type, key, (actor, operation) => actor.change(this.#draw(operation)))
    }
  }

  async #answered(
    type: ProfileType,
    key: string,
    call: (actor: ActorHandle<ProfileActor>, operation: number) => Promise<Applied>,
  ): Promise<"applied" | "rejected"> {
    const operation = this.#tap.cluster.nextOp()
    try {
      this.#check(operation, await call(this.#actor(type, key), operation))
      return "applied"
    } catch (error) {
      if (!(error instanceof NotUniqueError)) throw error
      this.#life.sometimes("a unique value is taken")
      this.#rules.ledger.rejected(operation)
      return "rejected"
    }
  }

  #named(type: ProfileType, key: string, name: string): Promise<"applied" | "rejected"> {
    return this.#answered(type, key, (actor, operation) =>
      actor.changePlainly({ operation, name, plan: "free" }),
    )
  }

  #check(operation: number, applied: Applied): void {
    const problem = this.#rules.ledger.problemOf(operation, applied)
    this.#life.always("callers are told what is stored", problem === undefined, () => problem ?? "")
  }

  /** A call under a name leaves rows, and is repeated until it is answered. */
  async #remember(type: ProfileType, key: string): Promise<void> {
    const count = this.#random.chance(0.2) ? 15 : 3
    // What one commit can have: an import of more is in several.
    if (this.#rules.stored.rowsOf(idOf(type, key)) > MOST_ROWS) return
    await Promise.all(
      Array.from({ length: count }, async () => {
        const operation = this.#tap.cluster.nextOp()
        const named = withOptions(this.#actor(type, key), { operation: `operation ${operation}` })
        const ask = async () => this.#check(operation, await named.remember(operation))
        await ask().catch((error) => {
          this.#checkFailure(error)
          return ask()
        })
      }),
    )
  }

  /** Each page is as of one moment. */
  async #page(type: ProfileType, after: string | undefined, limit: number) {
    const { stored } = this.#rules
    const sight = stored.watch(() => stored.keysOf(type))
    try {
      const page = await this.node.system.list(type, { after, limit }).page()
      const isExplained = sight.seen.some((keys) => isPageOf(keys, { ...page, after, limit }))
      this.#life.always("ListedTrue", isExplained, () => {
        const shown = sight.seen.map((keys) => keys.join(" ")).join(" | ")
        return `${page.keys.join(" ")} after ${after} was listed, next ${page.next}, of ${shown}`
      })
      this.#life.sometimes("a page has a next one", page.next !== undefined)
      this.#life.sometimes("profiles begin or end while a page is read", differs(sight.seen))
      return page
    } finally {
      sight.close()
    }
  }

  /** What is found is what the states said at some moment. */
  async #find(type: ProfileType, index: "name" | "plan", value: string): Promise<void> {
    const { stored } = this.#rules
    const sight = stored.watch(() => stored.having(type, index, value))
    try {
      const { keys, next } = await this.node.system.find(type, { [index]: value }, { limit: 100 })
      const isExplained = sight.seen.some((all) => {
        return isPageOf(all, { keys, next: next && keys.at(-1), after: undefined, limit: 100 })
      })
      this.#life.always("FoundTrue", isExplained, () => {
        return `${keys.join(" ")} was found for ${index} ${value} of ${type}, of ${sight.seen.join(" | ")}`
      })
      this.#life.sometimes("an actor is found", keys.length > 0)
      this.#life.sometimes("an answer changes while it is looked for", differs(sight.seen))
    } catch (error) {
      if (!(error instanceof IndexBuildingError)) throw error
      this.#life.sometimes("an index is not complete")
    } finally {
      sight.close()
    }
  }

  /** What is there all the time is listed once, and what is never there is not listed. */
  async #iterate(type: ProfileType): Promise<void> {
    const { stored } = this.#rules
    const sight = stored.watch(() => stored.keysOf(type))
    try {
      const listed: string[] = []
      for await (const key of this.node.system.list(type)) listed.push(key)
      const always = (sight.seen[0] ?? []).filter((key) => sight.seen.every((keys) => keys.includes(key)))
      const missing = always.filter((key) => !listed.includes(key))
      const invented = listed.filter((key) => !sight.seen.some((keys) => keys.includes(key)))
      const isOnce = new Set(listed).size === listed.length
      this.#life.always("ListedTrue", isOnce && missing.length + invented.length === 0, () => {
        return `${listed.join(" ")} was listed, without ${missing.join(" ")}, with ${invented.join(" ")}`
      })
    } finally {
      sight.close()
    }
  }

  /** Each actor is exported as it was at one moment, with all that belongs to it. */
  async #exported(type: ProfileType): Promise<void> {
    const { stored } = this.#rules
    const ids = () => stored.keysOf(type).map((key) => idOf(type, key))
    const sight = stored.watch(() => new Map(ids().map((id) => [id, stored.wholeOf(id)])))
    try {
      const lines: string[] = []
      const busy = this.#remember(type, this.#random.pick(this.#rules.keys)).catch((error) => {
        this.#checkFailure(error)
      })
      for await (const line of exportActors(this.node.system, type)) lines.push(line)
      await busy
      for (const { key, whole } of exportedIn(lines)) {
        const id = idOf(type, key)
        const isExplained = sight.seen.some((all) => all.get(id) === whole)
        this.#life.always("ExportedWhole", isExplained, () => `${id} was exported as it never was: ${whole}`)
        const states = new Set(sight.seen.map((all) => all.get(id)))
        this.#life.sometimes("an actor changes while it is exported", states.size > 1)
      }
    } finally {
      sight.close()
    }
  }

  /** Copies a profile to another key, in place of what is there, as a life of its own. */
  async #copy(type: ProfileType): Promise<void> {
    const { stored, keys } = this.#rules
    const there = stored.keysOf(type)
    if (there.length === 0) return
    // A copy of one that has a unique value cannot be beside it.
    const free = there.filter((key) => stored.get(idOf(type, key))?.state.name === "")
    const from = this.#random.pick(free.length > 0 && this.#random.chance(0.7) ? free : there)
    const to = this.#random.pick(keys)
    const lines: string[] = []
    for await (const line of exportActors(this.node.system, type)) lines.push(line)
    const life = `copy ${this.#tap.cluster.nextOp()}`
    const copied = copyOf(lines, { from, to, life })
    if (copied === undefined || this.#isOver) return
    stored.importing(idOf(type, to), life)
    const onExisting = this.#random.pick(["skip", "replace"] as const)
    const { imported } = await this.#imported(type, copied, onExisting)
    const hasBegun = this.#rules.ledger.hasBegun(life)
    this.#life.always("what is said to be imported is stored", (imported === 1) === hasBegun, () => life)
    this.#life.sometimes("an actor is imported", imported === 1)
    this.#life.sometimes("an import finds an actor", imported === 0)
  }

  async #imported(type: ProfileType, lines: readonly string[], onExisting: "skip" | "replace") {
    try {
      return await importActors(this.node.system, type, lines, { onExisting })
    } catch (error) {
      if (!(error instanceof ImportError) || !error.message.includes("unique index")) throw error
      this.#life.sometimes("an import would take a value that is taken")
      return { imported: 0 }
    }
  }

  /** A profile destroys itself. */
  async #close(type: ProfileType, key: string): Promise<void> {
    const actor = this.#actor(type, key)
    const life = await (this.#random.chance(0.5) ? actor.close() : actor.closePlainly())
    const isGone = !this.#rules.ledger.isAlive(life)
    this.#life.always("a profile that has destroyed itself is gone", isGone, () => life)
  }

  /** At some moment between the call and the answer there is no profile. */
  async #destroy(type: ProfileType, key: string): Promise<void> {
    const { stored } = this.#rules
    const sight = stored.watch(() => stored.get(idOf(type, key))?.state.life)
    try {
      await this.node.system.destroy(type, key)
      const shown = () => `${type}/${key} had the lives ${sight.seen.join(", ")}`
      this.#life.always("DestroyedTrue", sight.seen.includes(undefined), shown)
      this.#life.sometimes("an actor is destroyed", sight.seen[0] !== undefined)
    } finally {
      sight.close()
    }
  }

  /** What it was to be reminded of goes with it, in several commits if that is much. */
  async #remindedAndDestroyed(type: ProfileType, key: string): Promise<void> {
    const [random, { clock }] = [this.#random, this.#life.ports]
    const isMany = random.chance(0.5)
    const [rounds, count] = isMany ? [6, 28] : [1, 3]
    const afterMs = isMany ? random.between(1_000, 20_000) : random.between(0, 50)
    for (let round = 0; round < rounds; round += 1) {
      const reminded = { from: round * count, count, afterMs }
      await this.#answered(type, key, (actor, operation) => actor.remindMany(operation, reminded))
    }
    const dueAtMs = clock.wallMs() + afterMs
    const before = this.#rules.stored.get(idOf(type, key))?.state
    if (!isMany) await sleep(this.#life, 60)
    const now = this.#rules.stored.get(idOf(type, key))?.state
    const isSame = now !== undefined && now.life === before?.life && now.fired === before.fired
    this.#life.sometimes("an actor is destroyed whose reminders are due", isSame && clock.wallMs() >= dueAtMs)
    if (!isMany) return this.#destroy(type, key)
    // Whoever calls next may find it dying.
    const next = sleep(this.#life, random.between(0, 100)).then(() => this.#named(type, key, ""))
    const both = await Promise.allSettled([this.#close(type, key), next])
    for (const one of both) if (one.status === "rejected") this.#checkFailure(one.reason)
  }

  #draw(operation: number) {
    return { operation, name: this.#random.pick(NAMES), plan: this.#random.pick(PLANS) }
  }

  #actor(type: ProfileType, key: string): ActorHandle<ProfileActor> {
    return this.node.system.actor<ProfileActor>(type, key)
  }

  #checkFailure(error: unknown): void {
    if ((error as Error).name === "AssertionBroken") throw error
    const { code = "none" } = error as { readonly code?: string }
    const isExpected =
      (error instanceof CallError || error instanceof StoreUnavailableError) && !WRONG.has(code)
    const isImport = error instanceof ImportError
    this.#life.always("calls fail only for what is wrong with their way", isExpected && !isImport, () =>
      String((error as Error).stack),
    )
    this.#life.sometimes("a call fails")
    const { cluster } = this.#tap
    // Its store closes under what it reads there.
    if (this.node.isLeaving) return
    this.#life.always("calls succeed as long as no fault is on", !cluster.isFaultless, () => String(error))
  }

  get #isOver(): boolean {
    return this.#tap.cluster.isOver || this.node.isLeaving
  }
}

const MOST_ROWS = 30
const NAMES = ["ada", "ben", "cyd", "", "", ""]
const PLANS = ["free", "pro", "team"]

/** These say that the call itself is wrong, and it never is. */
const WRONG = new Set(["CallCycle", "UnknownMethod", "InvalidMessage", "OperationMismatch", "State"])

import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { ActorRef } from "../actor/actor-ref.js"
import { ask } from "../actor/ask.js"
import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { InvalidMessageError } from "../errors/call-errors.js"
import { messageOf } from "../errors/thrown.js"
import { inspectHere } from "./actor-inspection.js"
import type { ActorInspection, InspectOptions } from "./inspection.js"
import type { Observation, ObservedSystem } from "./observation.js"
import type { Question } from "./observer-gate.js"
import type {
  ClusterSnapshot,
  ClusterSnapshotOptions,
  MissingSnapshot,
  SnapshotOptions,
  SystemSnapshot,
} from "./snapshot.js"

/**
 * Asks the other members what they observe, and answers them. A question is asked once and has a deadline: a
 * node that does not answer is named in the result, as that is what an operator wants to know of it.
 */
export class ClusterObservation {
  readonly #system: MemberSystem
  readonly #observation: Observation
  readonly #environment: ActorEnvironment

  constructor(system: MemberSystem, observation: Observation, environment: ActorEnvironment) {
    this.#system = system
    this.#observation = observation
    this.#environment = environment
  }

  async snapshot(options: ClusterSnapshotOptions = {}): Promise<ClusterSnapshot> {
    const { timeoutMs = TIMEOUT_MS, ...rest } = options
    const here = this.#observation.snapshot(rest)
    const missing: MissingSnapshot[] = []
    const answers = await Promise.all(
      this.#others.map(async (node) => {
        try {
          return (await this.#ask(node, ["snapshot", rest], timeoutMs)) as SystemSnapshot
        } catch (error) {
          missing.push({ node: node.toString(), because: messageOf(error) })
          return undefined
        }
      }),
    )
    const nodes = [here, ...answers.filter((answer) => answer !== undefined)]
    const takenAt = this.#environment.clock.wallMs()
    return { version: 1, takenAt, node: this.#system.node?.toString(), nodes, missing }
  }

  /** Rejects with a `StoreUnavailableError` if the store cannot say where the actor is. */
  async inspect(id: ActorId, options: InspectOptions = {}): Promise<ActorInspection> {
    const { timeoutMs = TIMEOUT_MS, state = false } = options
    const node = await this.#nodeOf(id)
    if (node === undefined || this.#isSelf(node)) return this.#inspectHere(id, state)
    try {
      return (await this.#ask(node, ["inspect", id.type, id.key, state], timeoutMs)) as ActorInspection
    } catch (error) {
      const { problems, ...rest } = await this.#inspectHere(id, state)
      const problem = `${node}, which has the actor, did not answer: ${messageOf(error)}`
      return { ...rest, node: node.toString(), activation: undefined, problems: [problem, ...problems] }
    }
  }

  /**
   * Ends the activation of the actor, wherever it is. Resolves with the node that it ran on; with undefined
   * if it does not run. Nothing ends if it `isTried`.
   */
  async deactivate(id: ActorId, isTried: boolean): Promise<string | undefined> {
    const node = await this.#nodeOf(id)
    if (node === undefined || this.#isSelf(node)) return this.#deactivateHere(id, isTried)
    return (await this.#ask(node, ["deactivate", id.type, id.key, isTried], TIMEOUT_MS)) as string | undefined
  }

  async answer([name, ...args]: Question): Promise<unknown> {
    switch (name) {
      case "snapshot":
        return this.#observation.snapshot(args[0] as SnapshotOptions)
      case "inspect":
        return this.#inspectHere(this.#idOf(args), args[2] === true)
      case "deactivate":
        return this.#deactivateHere(this.#idOf(args), args[2] !== false)
    }
    throw new InvalidMessageError(`the question ${name} is not known; it may be of a later version`)
  }

  #inspectHere(id: ActorId, isStateShown: boolean): Promise<ActorInspection> {
    return inspectHere(this.#system, this.#observation, id, {
      isStateShown,
      now: this.#environment.clock.wallMs(),
    })
  }

  async #deactivateHere({ name }: ActorId, isTried: boolean): Promise<string | undefined> {
    const activation = this.#system.parts?.actors.catalog.get(name)
    if (activation === undefined) return undefined
    if (!isTried) await activation.deactivate("asked")
    return this.#system.node?.toString() ?? "this node"
  }

  get #others(): readonly NodeId[] {
    return this.#system.cluster.members.map(({ node }) => node).filter((node) => !this.#isSelf(node))
  }

  #isSelf(node: NodeId): boolean {
    const { parts } = this.#system
    return this.#system.node?.equals(node) === true || parts?.registry.node.equals(node) === true
  }

  /** Where the actor is, by what is known here or in the store; undefined if it is nowhere. */
  async #nodeOf(id: ActorId): Promise<NodeId | undefined> {
    const { parts } = this.#system
    if (parts === undefined || parts.actors.catalog.get(id.name) !== undefined) return undefined
    const directory = parts.actors.host.directoryOf(id.type)
    const known = directory.cached(id)
    if (known?.kind === "placed" && this.#system.cluster.has(known.node)) return known.node
    return (await directory.read(id))?.node
  }

  #idOf([type, key]: readonly unknown[]): ActorId {
    return this.#system.idOf(String(type), String(key))
  }

  #ask(node: NodeId, question: Question, timeoutMs: number): Promise<unknown> {
    const target = this.#system.observerAt(node)
    return ask(this.#environment, target, () => question, { timeoutMs })
  }
}

/** The system as a member of a cluster. */
export interface MemberSystem extends ObservedSystem {
  /** Throws an `ActorIdError`. */
  idOf(type: string, key: string): ActorId
  observerAt(node: NodeId): ActorRef<Question>
}

const TIMEOUT_MS = 2_000

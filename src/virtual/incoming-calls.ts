import { ActivationError, type UnknownMethodError } from "../errors/actor-call-errors.js"
import { InvalidMessageError, OverloadedError } from "../errors/call-errors.js"
import type { Activation } from "./activation.js"
import type { ActorHost } from "./actor-host.js"
import { type Admission, CallAdmission } from "./call-admission.js"
import type { DueHint } from "./due-index.js"
import type { CallReceiver, IncomingCall } from "./incoming-call.js"
import { moved, notHere, refusalError } from "./placement-answer.js"
import type { QuietPeriod } from "./quiet-period.js"

/** Receives the calls of other nodes and resolves their actors: the driver of `call-admission.ts`. */
export class IncomingCalls implements CallReceiver {
  readonly namespace: string
  readonly #host: ActorHost
  readonly #quiet: QuietPeriod
  readonly #admission: CallAdmission<IncomingCall>

  constructor(host: ActorHost) {
    const { namespace, mailboxCapacity: capacity } = host.options
    this.namespace = namespace
    this.#host = host
    this.#quiet = host.quiet
    this.#admission = new CallAdmission({
      capacity,
      resolvingPerConnection: RESOLVING_PER_CONNECTION,
      waitingPerConnection: WAITING_PER_CONNECTION,
    })
  }

  /** The number of actors that do not run here and are called by other nodes. */
  get resolving(): number {
    return this.#admission.resolving
  }

  receive(call: IncomingCall): void {
    const { life, hasJoined, options } = this.#host
    if (life?.phase === "stopped")
      return call.fail(call.idProblem ?? notHere(call.id, "this node is stopping"))
    if (!hasJoined) {
      return call.fail(call.idProblem ?? notHere(call.id, "this node has not joined yet"))
    }
    const activation = this.#host.table.get(call.key)?.activation
    if (activation === undefined) {
      const directory = this.#host.directories.get(call.type)
      const problem = directory && (call.idProblem ?? directory.keyProblem?.(call.id))
      if (problem !== undefined) return call.fail(new InvalidMessageError(problem.message))
    }
    const admission = this.#admission.arrived(call, activation !== undefined)
    if (admission === "deliver") return (activation as Activation).turns.accept(call)
    if (admission !== "wait" && admission !== "resolve") {
      return call.fail(refusalOf(call, admission, options.mailboxCapacity))
    }
    if (call.chain.length > 0) this.#host.directories.get(call.type)?.awaited?.(call.id, call.chain)
    if (admission === "wait") return
    this.#quiet.disturb()
    void this.#resolve(call)
  }

  refused(call: IncomingCall): void {
    this.#admission.refused(call)
  }

  methodProblem({ id, method }: IncomingCall): UnknownMethodError | undefined {
    const hosted = this.#host.types.get(id.type)
    if (hosted === undefined || hosted.runnable(method) !== undefined) return undefined
    return hosted.unknownMethod(method)
  }

  hinted(hint: DueHint): void {
    this.#host.due.hinted(hint)
  }

  /** Delivers the waiting calls to the new activation of their actor. */
  created(activation: Activation): void {
    for (const call of this.#admission.activatedHere(activation.key)) activation.turns.accept(call)
  }

  stop(): void {
    for (const call of this.#admission.stop()) call.fail(notHere(call.id, "this node is stopping"))
  }

  /**
   * Resolves an actor that another node expects here. If the cache of this node names another one it may be
   * outdated, so the store is read. An actor that nobody has starts here, unless its home is a node that has
   * joined; that node may have refused a call that was resent, which ends here.
   */
  async #resolve({ id, key, isResent }: IncomingCall): Promise<void> {
    const { registry, homecoming } = this.#host
    const directory = this.#host.directoryOf(id.type)
    const known = directory.cached(id)
    if (known?.kind === "placed" && !known.node.equals(registry.node)) {
      try {
        await directory.read(id)
      } catch {
        return this.#refuse(key, notHere(id, "the store did not answer"))
      }
    }
    const here = isResent || homecoming.homeOf(id) === undefined
    this.#host.placement.resolve(id, { here }, (answer) => {
      if (answer.kind === "remote") {
        const { epoch, isOfShards: isShard = false } = directory
        const known = { epoch, where: directory.cached(id), isShard }
        return this.#refuse(key, moved(id, answer.node, known))
      }
      const activation = answer.kind === "local" ? this.#host.table.get(key)?.activation : undefined
      if (activation !== undefined) return this.#resolved(key, (call) => activation.turns.accept(call))
      const error = answer.kind === "refused" ? refusalError(id, answer.refusal) : undefined
      this.#refuse(
        key,
        error instanceof ActivationError ? error : notHere(id, "this node cannot host it at the moment"),
      )
    })
  }

  #refuse(key: string, error: Error): void {
    this.#resolved(key, (call) => call.fail(error))
  }

  /**
   * Ends a resolve and starts the next. Each starts in its own microtask: thousands of them may be answered
   * synchronously, which would overflow the stack.
   */
  #resolved(key: string, each: (call: IncomingCall) => void): void {
    const { waited, next } = this.#admission.resolved(key)
    for (const call of waited) each(call)
    if (next !== undefined) void Promise.resolve(next).then((call) => this.#resolve(call))
    this.#quiet.changed()
  }
}

function refusalOf(
  call: IncomingCall,
  admission: Exclude<Admission, "deliver" | "wait" | "resolve">,
  capacity: number,
) {
  if (admission instanceof Error) return admission
  // The errors below contain the id, which has to be valid.
  const problem = call.idProblem
  if (problem !== undefined) return problem
  switch (admission) {
    case "sent-too-early":
      return notHere(call.id, "an earlier call was refused after this one was sent")
    case "queue-full":
      return new OverloadedError(call.id.toString(), capacity)
    case "too-many-actors":
      return new OverloadedError(
        `the node of ${call.id}`,
        WAITING_PER_CONNECTION,
        "actors to start for one caller",
      )
  }
}

/** As many as the store commits at once without delaying the first calls of a caller. */
const RESOLVING_PER_CONNECTION = 1_024
const WAITING_PER_CONNECTION = 100_000

import type { ActorPath } from "../address/actor-path.js"
import { ActorStoppedError, type CallError, type Delivery } from "../errors/call-errors.js"
import type { ActorEnvironment } from "./actor-environment.js"
import type { Backlog } from "./backlog.js"
import type { DeadLetterReason } from "./dead-letters.js"
import { InternalRef, type Watcher } from "./internal-ref.js"
import type { ReplyRef } from "./reply-ref.js"
import { Terminated } from "./signals.js"

/**
 * A ref made from a path. It refers to the actor that is at the path when a message is sent, or to one
 * incarnation if the path has a uid.
 */
export class PathRef<M> extends InternalRef<M> {
  readonly path: ActorPath
  readonly #environment: ActorEnvironment
  readonly #find: (path: ActorPath) => InternalRef<never> | undefined
  #absent: AbsentRef<M> | undefined
  #last: InternalRef<M> | undefined

  constructor(
    environment: ActorEnvironment,
    path: ActorPath,
    find: (path: ActorPath) => InternalRef<never> | undefined,
  ) {
    super()
    this.#environment = environment
    this.path = path
    this.#find = find
  }

  get capacity(): number {
    return this.current().capacity
  }

  override current(): InternalRef<M> {
    if (this.#last?.mayBeGone === false) return this.#last
    const found = this.#find(this.path) as InternalRef<M> | undefined
    this.#last = found
    if (found !== undefined) return found
    this.#absent ??= new AbsentRef(this.#environment, this.path)
    return this.#absent
  }

  tell(message: M): void {
    this.current().tell(message)
  }

  accept(message: M): DeadLetterReason | undefined {
    return this.current().accept(message)
  }

  override receive(message: M, weight: number, backlog: Backlog): void {
    this.current().receive(message, weight, backlog)
  }

  addWatcher(watcher: Watcher): void {
    this.current().addWatcher(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.current().removeWatcher(watcher)
  }

  request(reply: ReplyRef, message: M): CallError | undefined {
    return this.current().request(reply, message)
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.current().withdraw(reply)
  }
}

/** The ref of a path without an actor. */
class AbsentRef<M> extends InternalRef<M> {
  readonly path: ActorPath
  readonly #environment: ActorEnvironment

  constructor(environment: ActorEnvironment, path: ActorPath) {
    super()
    this.#environment = environment
    this.path = path
  }

  get capacity(): number {
    return 0
  }

  tell(message: M): void {
    this.#environment.deadLetters.add(message, this, this.accept())
  }

  accept(): DeadLetterReason {
    return this.path.uid === undefined ? "unknown" : "old-incarnation"
  }

  addWatcher(watcher: Watcher): void {
    watcher.terminated(new Terminated(this, undefined))
  }

  removeWatcher(): void {}

  request(): CallError {
    return new ActorStoppedError(this.toString(), "not-delivered")
  }

  withdraw(): Delivery {
    return "not-delivered"
  }
}

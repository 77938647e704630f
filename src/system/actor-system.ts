import type { SpawnOptions } from "../actor/actor-context.js"
import type { ActorRef } from "../actor/actor-ref.js"
import { type AskOptions, ask } from "../actor/ask.js"
import type { Behavior } from "../actor/behavior.js"
import { Behaviors } from "../actor/behaviors.js"
import { Cell } from "../actor/cell.js"
import { DeadLetters } from "../actor/dead-letters.js"
import { Deadlines } from "../actor/deadlines.js"
import { Dispatcher } from "../actor/dispatcher.js"
import { EventStream } from "../actor/event-stream.js"
import { guardedLogger } from "../actor/guarded-logger.js"
import { type InternalRef, internal } from "../actor/internal-ref.js"
import { LocalRef } from "../actor/local-ref.js"
import { PathRef } from "../actor/path-ref.js"
import type { Realm } from "../actor/realm.js"
import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import { drawFirstUid, UidReservations } from "../address/uid-reservations.js"
import type { Ports } from "../ports/ports.js"
import { type ActorSystemSettings, type CheckedSettings, checkSettings } from "./settings.js"

/**
 * A system of actors in this process: puts the rooms together, holds the two guardians, and is where a program begins and
 * ends.
 *
 * Stopping goes down the tree: user actors first, children before parents, then the runtime's own. What does not stop
 * within `drainMs` is left behind and named, because a process that cannot end is worse than an actor that was cut off.
 */
export class ActorSystem implements AsyncDisposable {
  /** What happens in this system, by class of event. */
  readonly events: EventStream
  readonly address: Address
  readonly #realm: Realm
  readonly #settings: CheckedSettings
  readonly #user: Cell
  readonly #system: Cell
  #stopping: Promise<void> | undefined

  /** Programs use the `ActorSystem.start` that brings its own ports. */
  static async start(settings: ActorSystemSettings, ports: Ports): Promise<ActorSystem> {
    return new ActorSystem(checkSettings(settings), ports)
  }

  private constructor(settings: CheckedSettings, ports: Ports) {
    const { clock, random, scheduler } = ports
    const logger = guardedLogger(ports.logger).with({ system: settings.address.system })
    const events = new EventStream(scheduler, logger)
    let names = 0
    this.#settings = settings
    this.address = settings.address
    this.events = events
    this.#realm = {
      address: settings.address,
      uids: new UidReservations({ firstIssued: drawFirstUid(random) }),
      dispatcher: new Dispatcher(scheduler, clock),
      deadlines: new Deadlines(clock),
      events,
      deadLetters: new DeadLetters(events, logger, clock),
      clock,
      random,
      logger,
      askTimeoutMs: settings.requestTimeoutMs,
      temporaries: new Map(),
      freshName: () => {
        names += 1
        return `$${names.toString(36)}`
      },
    }
    this.#user = guardian(this.#realm, "user")
    this.#system = guardian(this.#realm, "system")
  }

  /** How many messages went to dead letters. */
  get deadLetterCount(): number {
    return this.#realm.deadLetters.count
  }

  /** Starts an actor under `/user`. Without a name it gets one of its own. */
  spawn<M>(behavior: Behavior<M>, name?: string, options?: SpawnOptions): ActorRef<M> {
    return this.#user.spawn(behavior, name, options)
  }

  /** Sends what `message` makes and waits for what is told to `replyTo`. Fails with a `CallError`. */
  ask<T, R>(target: ActorRef<T>, message: (replyTo: ActorRef<R>) => T, options?: AskOptions): Promise<R> {
    return ask(this.#realm, target, message, options)
  }

  /**
   * The ref for a path: whoever is there when a message is told, or that one incarnation if the path says a uid. Throws an
   * `ActorPathError` for what is no path, a `PathResolutionError` for another node's.
   */
  resolve<M>(path: string | ActorPath): ActorRef<M> {
    const parsed = typeof path === "string" ? ActorPath.parse(path, { runtimeNames: true }) : path
    if (parsed.address.key !== this.address.key) {
      throw new PathResolutionError(
        "Unresolved",
        parsed.toString(),
        "it is on another system, and this one is local only",
      )
    }
    return new PathRef<M>(this.#realm, parsed, (wanted) => this.#find(wanted))
  }

  /** Resolves once the actor and its children have stopped; at once if they have already. */
  stopActor(ref: ActorRef<never>): Promise<void> {
    const target = internal(ref).current()
    return new Promise((resolve) => {
      target.addWatcher({ terminated: () => resolve() })
      if (target instanceof LocalRef) target.cell.stop()
    })
  }

  /** Stops every actor and resolves when all have stopped, or `drainMs` are over. Calling it again gives the same. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #stop(): Promise<void> {
    const deadline = this.#realm.clock.setTimer(this.#settings.drainMs, () => {
      this.#user.abandon()
      this.#system.abandon()
    })
    await this.stopActor(this.#user.ref)
    await this.stopActor(this.#system.ref)
    deadline.cancel()
    this.#realm.deadlines.stop()
    this.events.flush()
  }

  #find(path: ActorPath): InternalRef<never> | undefined {
    const [, guardian, ...names] = path.path.split("/")
    if (guardian === "system" && names[0] === "temp") return this.#findAnswer(path)
    let cell: Cell | undefined = guardian === "user" ? this.#user : this.#system
    for (const name of names) cell = cell?.child(name)
    return cell === undefined || path.uid === undefined || cell.uid === path.uid ? cell?.ref : undefined
  }

  #findAnswer(path: ActorPath): InternalRef<never> | undefined {
    const found = this.#realm.temporaries.get(path.name)
    return found?.path.sameIncarnation(path) === true ? found : undefined
  }
}

/** A guardian does nothing but stand above the others: what is escalated to it has been reported, and it goes on. */
function guardian(realm: Realm, name: "user" | "system"): Cell {
  const cell = new Cell(realm, undefined, name)
  cell.begin(
    Behaviors.supervise(
      Behaviors.receive(() => Behaviors.unhandled),
      { strategy: "resume" },
    ),
  )
  return cell
}

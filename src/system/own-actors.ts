import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { Cell } from "../actor/cell.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { PathRef } from "../actor/path-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import type { Remoting } from "../remote/remoting.js"
import type { EntitySharding } from "../sharding/entities/entity-sharding.js"
import { type ActorsGate, GATE } from "../virtual/actors-gate.js"
import { OBSERVER, type ObserverGate } from "./observer-gate.js"

/** Finds the actors of one system by their paths. */
export class OwnActors {
  readonly #environment: ActorEnvironment
  readonly #guardians: { readonly user: Cell; readonly system: Cell }
  /** The parts of the system that have actors of their own, each undefined while the system has none. */
  readonly #parts: () => OwnParts

  constructor(
    environment: ActorEnvironment,
    guardians: { readonly user: Cell; readonly system: Cell },
    parts: () => OwnParts,
  ) {
    this.#environment = environment
    this.#guardians = guardians
    this.#parts = parts
  }

  /** A path without host and port is local if it has the name of this system. */
  has({ address }: ActorPath): boolean {
    const own = this.#environment.address
    return address.key === own.key || (address.authority === undefined && address.system === own.system)
  }

  /** A ref to the actor that is there when a message is sent. */
  ref<M>(path: ActorPath): PathRef<M> {
    return new PathRef<M>(this.#environment, path, (wanted) =>
      this.has(wanted) ? this.#find(wanted) : undefined,
    )
  }

  #find(path: ActorPath): InternalRef<never> | undefined {
    const { gate, observer, sharding } = this.#parts()
    if (path.path === GATE) return gate
    if (path.path === OBSERVER) return observer
    const sharded = sharding?.find(path)
    if (sharded !== undefined) return sharded
    const [, guardian, ...names] = path.path.split("/")
    if (guardian === "system" && names[0] === "temp") return this.#findAnswer(path)
    const { user, system } = this.#guardians
    let cell: Cell | undefined = guardian === "user" ? user : system
    for (const name of names) cell = cell?.child(name)
    return cell === undefined || path.uid === undefined || cell.uid === path.uid ? cell?.ref : undefined
  }

  #findAnswer(path: ActorPath): InternalRef<never> | undefined {
    // Only the uid cannot be guessed, so a path without one finds no ask.
    if (path.uid === undefined) return undefined
    const found = this.#environment.temporaries.get(path.name)
    if (found === undefined) return this.#parts().remoting?.questionAt(path)
    return found.path.sameIncarnation(path) ? found : undefined
  }
}

/** The error for a path of another system that cannot be reached. */
export function unresolved(path: ActorPath, isListening: boolean): PathResolutionError {
  const because = isListening
    ? "it is on another system and has no host and port; write system@host:port"
    : "it is on another system and this system does not listen; set listen to reach others"
  return new PathResolutionError("Unresolved", path.toString(), because)
}

interface OwnParts {
  readonly gate: ActorsGate | undefined
  readonly observer: ObserverGate
  readonly sharding: EntitySharding | undefined
  readonly remoting: Remoting | undefined
}

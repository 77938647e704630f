import type { Watcher } from "../actor/internal-ref.js"
import { Terminated } from "../actor/signals.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { RemoteRef } from "./remote-ref.js"

interface Watch {
  readonly number: number
  readonly ref: RemoteRef<never>
  readonly watchers: Set<Watcher>
  /** The path with the uid that the other node has found, and the id of that node. */
  path: ActorPath
  node: NodeId | undefined
}

/**
 * The actors of another node that actors of this node watch. The table outlives connections: all watches are
 * sent again on each new connection, since those sent on the last one may not have arrived. A watch is bound
 * to the incarnation of the actor that the other node found first, so that an actor which has died meanwhile
 * is not mistaken for the next one of its name.
 */
export class WatchTable {
  readonly #byNumber = new Map<number, Watch>()
  readonly #byRef = new Map<RemoteRef<never>, Watch>()
  #numbers = 0

  get size(): number {
    return this.#byNumber.size
  }

  /** Adds a watcher. Returns the watch if it has to be sent to the other node. */
  add(ref: RemoteRef<never>, watcher: Watcher): { number: number; path: ActorPath } | undefined {
    const known = this.#byRef.get(ref)
    if (known !== undefined) {
      known.watchers.add(watcher)
      return undefined
    }
    this.#numbers += 1
    const watch: Watch = {
      number: this.#numbers,
      ref,
      watchers: new Set([watcher]),
      path: ref.path,
      node: undefined,
    }
    this.#byNumber.set(watch.number, watch)
    this.#byRef.set(ref, watch)
    return watch
  }

  /** Removes a watcher. Returns the number to send to the other node if it was the last. */
  remove(ref: RemoteRef<never>, watcher: Watcher): number | undefined {
    const watch = this.#byRef.get(ref)
    if (watch === undefined || !watch.watchers.delete(watcher) || watch.watchers.size > 0) return undefined
    this.#forget(watch)
    return watch.number
  }

  /** Called when the other node has found the actor. A uid of 0 means none, as for a guardian. */
  found(number: number, node: NodeId, uid: number): void {
    const watch = this.#byNumber.get(number)
    if (watch === undefined) return
    watch.node = node
    if (uid !== 0 && watch.path.uid === undefined) watch.path = watch.path.withUid(uid)
  }

  /**
   * Called when a node has connected. Ends the watches of earlier incarnations, and returns those to send.
   */
  connected(node: NodeId): readonly { number: number; path: ActorPath }[] {
    for (const watch of [...this.#byNumber.values()]) {
      if (watch.node?.equals(node) === false) this.#end(watch, undefined)
    }
    return [...this.#byNumber.values()]
  }

  /**
   * Ends the watches of an incarnation that is gone, and with `areUnanswered` those that no node has
   * answered.
   */
  gone(node: NodeId, cause: unknown, { areUnanswered }: { readonly areUnanswered: boolean }): void {
    for (const watch of [...this.#byNumber.values()]) {
      if (watch.node?.equals(node) ?? areUnanswered) this.#end(watch, cause)
    }
  }

  terminated(number: number, cause: unknown): void {
    const watch = this.#byNumber.get(number)
    if (watch !== undefined) this.#end(watch, cause)
  }

  giveUp(cause: unknown): void {
    for (const watch of [...this.#byNumber.values()]) this.#end(watch, cause)
  }

  #end(watch: Watch, cause: unknown): void {
    this.#forget(watch)
    for (const watcher of watch.watchers) watcher.terminated(new Terminated(watch.ref, cause))
  }

  #forget(watch: Watch): void {
    this.#byNumber.delete(watch.number)
    this.#byRef.delete(watch.ref)
  }
}

import type { ActorPath } from "./actor-path.js"

/**
 * What is alive at which path. There is one entry for a path, whatever its uid, because a name is held by one actor at a
 * time; a look-up that says a uid finds only that incarnation, so that a reference to an old one never reaches its
 * successor.
 */
export class PathTable<V> {
  readonly #entries = new Map<string, Entry<V>>()

  get size(): number {
    return this.#entries.size
  }

  get(path: ActorPath): V | undefined {
    const entry = this.#entries.get(path.key)
    return entry !== undefined && meets(entry, path) ? entry.value : undefined
  }

  /** Takes the place of whatever was at the path, of any incarnation. */
  set(path: ActorPath, value: V): void {
    this.#entries.set(path.key, { uid: path.uid, value })
  }

  /** False if the incarnation that `path` means is not there. */
  delete(path: ActorPath): boolean {
    const entry = this.#entries.get(path.key)
    return entry !== undefined && meets(entry, path) && this.#entries.delete(path.key)
  }
}

interface Entry<V> {
  readonly uid: number | undefined
  readonly value: V
}

function meets(entry: Entry<unknown>, path: ActorPath): boolean {
  return path.uid === undefined || path.uid === entry.uid
}

import type { ActorPath } from "../address/actor-path.js"
import type { Ask } from "./ask.js"
import type { Cell } from "./cell.js"
import type { DeadLetterReason } from "./dead-letters.js"
import { InternalRef, type Watcher } from "./internal-ref.js"
import { pathOf } from "./lineage.js"

/** The ref of an actor in this process. It means one incarnation: once that has stopped, it stays so. */
export class LocalRef<M> extends InternalRef<M> {
  readonly cell: Cell
  #path: ActorPath | undefined

  constructor(cell: Cell) {
    super()
    this.cell = cell
  }

  /** Made when it is first asked for; most actors' never is. */
  get path(): ActorPath {
    this.#path ??= pathOf(this.cell)
    return this.#path
  }

  get capacity(): number {
    return this.cell.mailbox.capacity
  }

  tell(message: M): void {
    const refused = this.cell.accept(message)
    if (refused !== undefined) this.cell.realm.deadLetters.add(message, this, refused)
  }

  accept(message: M): DeadLetterReason | undefined {
    return this.cell.accept(message)
  }

  addWatcher(watcher: Watcher): void {
    this.cell.addWatcher(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.cell.removeWatcher(watcher)
  }

  addAsk(ask: Ask): void {
    ask.place = this.cell.mailbox.last
    this.cell.asks = ask.linkBefore(this.cell.asks)
  }

  removeAsk(ask: Ask): void {
    if (this.cell.asks === ask) this.cell.asks = ask.following
    ask.unlink()
  }
}

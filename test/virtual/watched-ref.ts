import type { ActorRef } from "../../src/actor/actor-ref.js"
import type { DeadLetterReason } from "../../src/actor/dead-letters.js"
import { InternalRef, type Watcher } from "../../src/actor/internal-ref.js"
import type { LocalRef } from "../../src/actor/local-ref.js"
import type { ReplyRef } from "../../src/actor/reply-ref.js"
import { Terminated } from "../../src/actor/signals.js"
import { ActorPath } from "../../src/address/actor-path.js"
import type { CallError, Delivery } from "../../src/errors/call-errors.js"

/** A ref whose watchers and questions the test sees, and which ends when the test says so. */
export class WatchedRef extends InternalRef<unknown> {
  readonly path: ActorPath
  readonly watchers = new Set<Watcher>()
  readonly questions: { readonly reply: ReplyRef; readonly message: unknown }[] = []
  readonly capacity = 1

  constructor(path = "troupe://test/user/watched") {
    super()
    this.path = ActorPath.parse(path)
  }

  /** Notifies the watchers, as the end of an actor does. */
  end(cause?: unknown): void {
    for (const watcher of [...this.watchers]) watcher.terminated(new Terminated(this, cause))
    this.watchers.clear()
  }

  addWatcher(watcher: Watcher): void {
    this.watchers.add(watcher)
  }

  removeWatcher(watcher: Watcher): void {
    this.watchers.delete(watcher)
  }

  request(reply: ReplyRef, message: unknown): CallError | undefined {
    this.questions.push({ reply, message })
    return undefined
  }

  withdraw(): Delivery {
    return "unknown"
  }

  tell(): void {}

  accept(): DeadLetterReason | undefined {
    return undefined
  }
}

/** Returns the watchers of a spawned actor from now on, and calls `changed` whenever they change. */
export function watchersOf(ref: ActorRef<never>, changed: () => void = () => {}): ReadonlySet<Watcher> {
  const { cell } = ref as LocalRef<never>
  const { addWatcher, removeWatcher } = cell
  const watchers = new Set<Watcher>()
  cell.addWatcher = (watcher) => {
    watchers.add(watcher)
    addWatcher.call(cell, watcher)
    changed()
  }
  cell.removeWatcher = (watcher) => {
    watchers.delete(watcher)
    removeWatcher.call(cell, watcher)
    changed()
  }
  return watchers
}

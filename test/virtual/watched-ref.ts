import type { DeadLetterReason } from "../../src/actor/dead-letters.js"
import { InternalRef, type Watcher } from "../../src/actor/internal-ref.js"
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

import { ActorPath } from "../address/actor-path.js"
import type { Ask } from "./ask.js"
import type { DeadLetterReason } from "./dead-letters.js"
import { InternalRef, type Watcher } from "./internal-ref.js"
import type { Realm } from "./realm.js"
import { Terminated } from "./signals.js"

/** The ref that an ask sends along. The first message told to it is the answer; any other goes to dead letters. */
export class ReplyRef extends InternalRef<unknown> {
  readonly #realm: Realm
  readonly #ask: Ask
  #path: ActorPath | undefined

  constructor(realm: Realm, ask: Ask) {
    super()
    this.#realm = realm
    this.#ask = ask
  }

  get path(): ActorPath {
    this.#path ??= temporaryPath(this.#realm)
    return this.#path
  }

  get capacity(): number {
    return 1
  }

  tell(message: unknown): void {
    if (!this.#ask.answer(message)) this.#realm.deadLetters.add(message, this, "ask-ended")
  }

  accept(message: unknown): DeadLetterReason | undefined {
    return this.#ask.answer(message) ? undefined : "ask-ended"
  }

  /** An answer is no actor: there is nothing to wait for. */
  addWatcher(watcher: Watcher): void {
    watcher.terminated(new Terminated(this, undefined))
  }

  removeWatcher(): void {}

  addAsk(): void {}

  removeAsk(): void {}
}

/** Where the temporary actors of asks live. */
function temporaryPath(realm: Realm): ActorPath {
  return ActorPath.root(realm.address, "system")
    .child("temp")
    .child(realm.freshName(), { runtimeNames: true })
}

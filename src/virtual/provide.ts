import type { Actor } from "./actor.js"
import type { ActorClass } from "./actor-class.js"

/**
 * Registers a class with its dependencies: what its actors read as `this.dependencies`.
 *
 * The object is handed over as it is, once for the type, and is neither copied nor closed. Close what it
 * holds after `system.stop()` has resolved.
 *
 * @example
 * import { Actor, ActorSystem, provide } from "troupe"
 *
 * interface Mailer {
 *   send(to: string, text: string): Promise<void>
 *   close(): void
 * }
 *
 * class Invoice extends Actor<unknown, { mailer: Mailer }> {
 *   static readonly type = "Invoice"
 *
 *   remind() {
 *     return this.dependencies.mailer.send(this.key, "your invoice is due")
 *   }
 * }
 *
 * async function run(mailer: Mailer) {
 *   const system = await ActorSystem.start({ namespace: "prod", actors: [provide(Invoice, { mailer })] })
 *   await system.stop()
 *   mailer.close()
 * }
 */
export function provide<Class extends ActorClass>(
  type: Class,
  dependencies: DependenciesOf<Class>,
): ProvidedActor<Class> {
  return Object.freeze({ actor: type, dependencies })
}

/** A class of actors with its dependencies, as the setting `actors` accepts it. `provide` creates one. */
export interface ProvidedActor<Class extends ActorClass = ActorClass> {
  /** The class. */
  readonly actor: Class
  /** What actors of the class read as `this.dependencies`. */
  readonly dependencies: DependenciesOf<Class>
}

/** An entry of the setting `actors`. */
export type RegisteredActor = ActorClass | ProvidedActor

type DependenciesOf<Class> = Class extends { new (): Actor<infer _State, infer Dependencies, infer _Initial> }
  ? Dependencies
  : never

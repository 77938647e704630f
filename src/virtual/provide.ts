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
export function provide<A extends Actor>(
  type: ActorClass<A>,
  dependencies: DependenciesOf<A>,
): ProvidedActor<A> {
  return Object.freeze({ actor: type, dependencies })
}

/** A class of actors with its dependencies, as the setting `actors` accepts it. `provide` creates one. */
export interface ProvidedActor<A extends Actor = Actor> {
  /** The class. */
  readonly actor: ActorClass<A>
  /** What its instances get as `this.dependencies`. */
  readonly dependencies: DependenciesOf<A>
}

/** An entry of the setting `actors`. */
export type RegisteredActor = ActorClass | ProvidedActor

type DependenciesOf<A extends Actor> = A extends Actor<unknown, infer Dependencies> ? Dependencies : never

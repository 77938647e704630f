import type { Actor } from "../virtual/actor.js"
import type { ActorClass, CallableNames } from "../virtual/actor-class.js"
import type { Principal } from "../virtual/principal.js"
import type { ExposedMethod, ExposedTypes } from "./exposure.js"

/**
 * Exposes methods of a class, whose names the compiler checks. The result is a part of `expose`.
 *
 * @example
 * import { Actor } from "troupe"
 * import { exposed } from "troupe/gateway"
 *
 * class Room extends Actor {
 *   say(text: string) {
 *     return text
 *   }
 *   history(): string[] {
 *     return []
 *   }
 * }
 *
 * export const expose = {
 *   ...exposed(Room, { say: true, history: { allow: (who, { key }) => key === who.id } }),
 * }
 */
export function exposed<A extends Actor, P extends Principal = Principal>(
  type: ActorClass<A>,
  methods: { readonly [Name in CallableNames<A>]?: ExposedMethod<P> },
): ExposedTypes<P> {
  return { [type.type ?? type.name]: methods as ExposedTypes<P>[string] }
}

import { InvalidMessageError } from "../errors/call-errors.js"
import type { Digest } from "../ports/digest.js"
import type { Write } from "../ports/store.js"
import { satelliteKey } from "../registry/registry-keys.js"
import type { Tenure } from "../registry/tenure.js"
import type { ActivationHome } from "./activation-home.js"
import type { Actor, DeactivationReason } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import type { NamedOperation } from "./operation.js"
import type { Turn } from "./turn.js"
import type { TurnRunner } from "./turn-runner.js"

/** The activation that durable turns belong to. */
export interface DurableOwner {
  readonly type: ActorType
  readonly key: string
  readonly tenure: Tenure
  readonly home: ActivationHome
  readonly instance: Actor | undefined
  readonly turns: TurnRunner
  /** The turn that the running code belongs to. */
  readonly currentTurn: Turn | undefined
  /** Ends the activation once no turn runs, and resolves when it is gone. */
  deactivate(reason: DeactivationReason): Promise<void>
}

/** What the running turn decides. */
export interface TurnChanges {
  /** Adds changes of satellites. */
  change(writes: readonly Write[]): void
}

/** The key of a satellite of the actor. */
export function rowKey({ tenure }: Pick<DurableOwner, "tenure">, name: string): string {
  return satelliteKey(tenure.id, name)
}

/** An operation of the actor itself, which may have been attempted before. */
export function namedAfter({ home, tenure }: DurableOwner, what: string): NamedOperation {
  const { name } = tenure.id
  const actor = name.length <= MAX_ACTOR ? name : `#${digestOf(home, name)}`
  return { kind: "named", name: `~${actor}/${what}`, isRepeat: true }
}

/** Names of operations have at most 1,024 characters, and grow with each call of a call. */
const MAX_ACTOR = 512

/** The digest of a text, as it stands in keys. */
export function digestOf({ digest }: { readonly digest: Digest }, text: string): string {
  return Buffer.from(digest.hmacSha256(DIGEST_KEY, Buffer.from(text))).toString("hex")
}

/** Names for the same thing must have the same digest on all nodes, so it is no secret. */
export const DIGEST_KEY = Buffer.from("troupe operation")

/** The answer is kept with the state, so it must be encodable and small. */
export function answerTooLarge(turn: Turn, bytes: number, most: number): InvalidMessageError {
  const { type } = turn.runner
  return new InvalidMessageError(
    `the answer of ${type.name}.${turn.name} must have at most ${most} bytes, as the method is once (got ${bytes})`,
    "unknown",
  )
}

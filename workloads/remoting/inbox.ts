import { type ActorRef, type Behavior, Behaviors, PostStop } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"
import { fingerprint, link } from "./fingerprint.js"

export type ToInbox = Note | Question | Passed | { readonly kind: "fail" }

/**
 * One of a chain: all that one player sends to one path, numbered from 1, each bound to the one before it.
 */
export interface Note {
  readonly kind: "note"
  readonly chain: string
  readonly seq: number
  /** The uid of the incarnation that is meant; 0 for the present holder of the name. */
  readonly meant: number
  readonly previous: number
  readonly hash: number
  readonly payload: unknown
}

export interface Question {
  readonly kind: "question"
  readonly id: string
  readonly meant: number
  readonly payload: unknown
  readonly manner: Manner
  /** The actor that answers in place of the one that is asked. */
  readonly pass: ActorRef<Passed> | undefined
  readonly replyTo: ActorRef<Answer>
}

export interface Passed {
  readonly kind: "passed"
  readonly id: string
  readonly payload: unknown
  readonly manner: Manner
  readonly replyTo: ActorRef<Answer>
}

/**
 * How a question is answered. A second answer, and one that comes after the asker is gone, must reach nobody;
 * hoarded ones come again and again, to whoever has the asker's address by then.
 */
export type Manner = "at once" | "late" | "twice" | "hoard" | "never"

export interface Answer {
  readonly id: string
  /** The fingerprint of the question's payload. */
  readonly hash: number
  readonly by: ActorRef<ToInbox>
}

export interface InboxTools {
  readonly life: Life
  /** Who it belongs to. */
  readonly player: string
  readonly slow: boolean
  sleep(ms: number): Promise<void>
  lateMs(): number
  stopped(): void
}

/** An actor that others write to. It holds each chain against what it has had of it so far. */
export function inbox(tools: InboxTools): Behavior<ToInbox> {
  const { life, player, slow } = tools
  const chains = new Map<string, { seq: number; hash: number }>()
  const hoard: Passed[] = []
  return Behaviors.setup<ToInbox>((context) => {
    const uid = context.self.path.uid ?? 0
    life.record({ kind: "spawned", player, uid })

    const take = (message: ToInbox): void => {
      switch (message.kind) {
        case "note":
          isMeant(life, message.meant, uid)
          return takeNote(tools, chains, message)
        case "question":
          isMeant(life, message.meant, uid)
          life.record({ kind: "question-handled", id: message.id })
          if (message.pass === undefined) return answer(tools, message, context.self)
          life.sometimes("a question is passed on to a third node")
          return message.pass.tell({ ...message, kind: "passed" })
        case "passed":
          for (const old of hoard) answer(tools, old, context.self)
          if (message.manner === "hoard" && hoard.length < MOST_HOARDED) hoard.push(message)
          return answer(tools, message, context.self)
        case "fail":
          throw new Error(FAILED)
      }
    }

    return Behaviors.receive<ToInbox>(
      (_context, message) => {
        take(message)
        return slow ? tools.sleep(2).then(() => Behaviors.same) : Behaviors.same
      },
      (_context, signal) => {
        if (signal instanceof PostStop) {
          life.record({ kind: "stopped", player, uid })
          tools.stopped()
        }
        return Behaviors.same
      },
    )
  })
}

const MOST_HOARDED = 6

/** What an inbox fails with when it is told to. */
export const FAILED = "told to fail"

function isMeant(life: Life, meant: number, uid: number): void {
  life.always(
    "a message reaches the incarnation that it was meant for",
    meant === 0 || meant === uid,
    () => `it was meant for ${meant}, and ${uid} has it`,
  )
}

function takeNote(
  { life, player }: InboxTools,
  chains: Map<string, { seq: number; hash: number }>,
  { chain, seq, previous, hash, payload }: Note,
): void {
  const known = chains.get(chain)
  const follows = known !== undefined && known.seq + 1 === seq
  const own = link(follows ? known.hash : previous, payload)
  life.always(
    "a chain is bit for bit what was sent",
    own === hash,
    () => `${chain} ${seq}: ${own} and not ${hash}`,
  )
  chains.set(chain, { seq, hash })
  life.record({ kind: "handled", chain, seq, hash, player })
}

function answer(
  tools: InboxTools,
  { id, payload, manner, replyTo }: Question | Passed,
  by: ActorRef<ToInbox>,
): void {
  const right: Answer = { id, hash: fingerprint(payload), by }
  switch (manner) {
    case "at once":
    case "hoard":
      return replyTo.tell(right)
    case "twice":
      replyTo.tell(right)
      return replyTo.tell({ ...right, hash: 0 })
    case "late":
      void tools.sleep(tools.lateMs()).then(() => replyTo.tell(right))
      return
    case "never":
      return
  }
}

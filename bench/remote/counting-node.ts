import { type ActorRef, Behaviors } from "../../src/index.js"
import { ParentProcess } from "../../tools/cluster/parent-process.js"
import { startNode } from "./node.js"
import { sharedNowUs } from "./shared-clock.js"

export interface Note {
  readonly body: string
  /** When it was told, on the clock that both processes share; 0 for those that are not timed. */
  readonly toldAtUs: number
}

/** Asks what has been handled since the last time. */
export interface Settle {
  readonly replyTo: ActorRef<Account>
}

export interface Account {
  readonly handled: number
  /** How long the timed ones were in flight. */
  readonly tookUs: readonly number[]
}

const system = await startNode()
let handled = 0
let tookUs: number[] = []
const counter = system.spawn(
  Behaviors.receive<Note | Settle>((_context, message) => {
    if ("replyTo" in message) {
      message.replyTo.tell({ handled, tookUs })
      handled = 0
      tookUs = []
    } else {
      handled += 1
      if (message.toldAtUs !== 0) tookUs.push(sharedNowUs() - message.toldAtUs)
    }
    return Behaviors.same
  }),
)
new ParentProcess().serve({ greeting: () => `${counter.path}`, stop: () => system.stop() })

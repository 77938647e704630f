import { type ActorRef, Behaviors } from "../../src/index.js"
import { ParentProcess } from "../../tools/cluster/parent-process.js"
import { startNode } from "./node.js"

export interface Question {
  readonly body: string
  readonly replyTo: ActorRef<string>
}

const system = await startNode()
const echo = system.spawn(
  Behaviors.receive<Question>((_context, { body, replyTo }) => {
    replyTo.tell(body)
    return Behaviors.same
  }),
)
new ParentProcess().serve({ greeting: () => `${echo.path}`, stop: () => system.stop() })

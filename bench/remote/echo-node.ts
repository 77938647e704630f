import { type ActorRef, Behaviors } from "../../src/index.js"
import { startNode } from "./node.js"
import { greetParent } from "./parent.js"

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
greetParent(echo.path.toString(), () => system.stop())

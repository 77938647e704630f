import { Behaviors } from "../../../src/index.js"
import { flood } from "./flood.js"

await flood((system, count) => {
  const behavior = Behaviors.receive<string>((context) => {
    count()
    context.self.tell("again")
    return Behaviors.same
  })
  system.spawn(behavior).tell("go")
})

import { type ActorRef, Behaviors } from "../../../src/index.js"
import { flood } from "./flood.js"

await flood((system, count) => {
  type Ball = { readonly from: ActorRef<Ball> }
  const player = Behaviors.receive<Ball>((context, { from }) => {
    count()
    from.tell({ from: context.self })
    return Behaviors.same
  })
  const ping = system.spawn(player)
  system.spawn(player).tell({ from: ping })
})

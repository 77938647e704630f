import type { StateText } from "../explorer/model.js"
import { Passage } from "./passage.js"
import { emptyWorld, walk, walkRequest } from "./walk.js"
import type { Request, World } from "./world.js"

/** A world as text, one character for each value. */
export const worldText: StateText<World> = {
  write(world) {
    const passage = Passage.writing()
    walk(world, passage)
    return passage.written()
  },
  read(text) {
    const world = emptyWorld()
    walk(world, Passage.reading(text))
    return world
  },
}

export function requestText(request: Request): string {
  const passage = Passage.writing()
  walkRequest(request, passage)
  return passage.written()
}

import type { PlacementEvent } from "./placement-log.js"

/** Something happened in the placing of actors by this node. */
export class PlacementHappened {
  readonly event: PlacementEvent

  constructor(event: PlacementEvent) {
    this.event = event
  }
}

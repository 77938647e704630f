import type { Place } from "./cluster-settings.js"

/** How the nodes and clients of a run reach each other. What `Cuts` says does not get through. */
export interface Wiring {
  /** Where a node or a client, which is about to start, listens, and where the others reach it. */
  placeOf(name: string): Promise<Place>
  /** The command by which a program runs at the place of a node; empty if it runs where the rig does. */
  commandAt(name: string): readonly string[]
  /** Breaks what the one has dialled of the other. */
  reset(from: string, to: string): void
  close(): Promise<void>
}

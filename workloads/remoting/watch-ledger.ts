import type { Stage } from "../../src/sim/index.js"
import type { RemotingEvent, Watched } from "./events.js"
import { FAILED } from "./inbox.js"

/**
 * Who watches whom, and who has died. To whoever watches, an actor ends with the incarnation of its node,
 * also where it lives on in the next; so that an actor which runs is said to have stopped needs its node to
 * be another than the watcher knew it as.
 */
export class WatchLedger {
  readonly #watches = new Map<string, Watched>()
  /** By watch: the incarnation that the watcher means. */
  readonly #meant = new Map<string, string | undefined>()
  readonly #over = new Set<string>()
  readonly #machines = new Map<string, string>()
  /** Incarnations: that of each machine, and by player and machine the last that was met. */
  readonly #nodes = new Map<string, string>()
  readonly #met = new Map<string, string>()
  /** The uids of actors that run, by machine. */
  readonly #alive = new Map<string, Set<number>>()

  watch(stage: Stage): void {
    stage.invariant<RemotingEvent>("who is watched and runs is not said to have stopped", (event) => {
      switch (event.kind) {
        case "born":
          this.#machines.set(event.player, event.machine)
          this.#alive.set(event.machine, new Set())
          return undefined
        case "incarnated":
          this.#nodes.set(this.#machines.get(event.player) ?? "", event.node)
          return undefined
        case "met":
          this.#met.set(`${event.player} ${event.machine}`, event.node)
          return undefined
        case "spawned":
          this.#aliveOn(event.player).add(event.uid)
          return undefined
        case "stopped":
          this.#aliveOn(event.player).delete(event.uid)
          return undefined
        case "terminated":
          return this.#isTrue(event.watch, event.cause)
        default:
          return false
      }
    })
    stage.invariant<RemotingEvent>("an end is told once, and only while it is watched for", (event) => {
      if (event.kind === "watched") this.#begin(event)
      if (event.kind !== "terminated" && event.kind !== "unwatched") return false
      const wasOver = this.#over.has(event.watch)
      this.#over.add(event.watch)
      return wasOver && event.kind === "terminated" ? `${event.watch} is over, and is told again` : undefined
    })
    stage.invariant<RemotingEvent>("the end of whoever is watched is told at last", (event) => {
      if (event.kind !== "judged") return false
      for (const { watch, player, machine, uid } of this.#watches.values()) {
        if (player === event.player && !this.#over.has(watch))
          return `${watch}: nobody told it that ${uid} on ${machine} has stopped`
      }
      return undefined
    })
  }

  #begin(watched: Watched): void {
    const { watch, player, machine } = watched
    this.#watches.set(watch, watched)
    this.#meant.set(watch, this.#met.get(`${player} ${machine}`) ?? this.#nodes.get(machine))
  }

  #isTrue(watch: string, cause: string): string | undefined {
    const { machine, uid } = this.#watches.get(watch) as Watched
    if (cause === "unreachable") return undefined
    if (cause !== "none" && cause !== FAILED) return `${watch} was told of a cause that is none: ${cause}`
    if (cause === "none" && this.#meant.get(watch) !== this.#nodes.get(machine)) return undefined
    return this.#alive.get(machine)?.has(uid) === true
      ? `${watch} was told that ${uid} on ${machine} has stopped`
      : undefined
  }

  #aliveOn(player: string): Set<number> {
    return this.#alive.get(this.#machines.get(player) ?? "") ?? new Set()
  }
}

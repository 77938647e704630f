import type { Stage } from "../../src/sim/index.js"
import type { Arrived, Handled, RemotingEvent, Told } from "./events.js"

/**
 * Every note from its telling to its end.
 *
 * A note may be lost only with a connection. So of two notes of one chain that came by one connection, all
 * between them came as well, or are in dead letters. A note that was told while there was no connection waits
 * for one, and so does one that the network took no more of before the connection was lost: where there has
 * been only one since, by which a later note of its chain came, it came too or is in dead letters. Dead
 * letters are known a moment later than the gap is seen, so gaps are judged at the end, for players that are
 * still there to tell of theirs.
 */
export class NoteLedger {
  readonly #chains = new Map<string, Chain>()
  /** By player and host. */
  readonly #lines = new Map<string, Line>()
  /** What came to a player and has not ended there. */
  readonly #inside = new Map<string, Set<Entry>>()

  watch(stage: Stage): void {
    stage.invariant<RemotingEvent>("what arrives was told", (event) => {
      if (event.kind !== "arrived" && event.kind !== "handled" && event.kind !== "dead") return false
      const { kind, chain, seq } = event
      const known = this.#chains.get(chain)?.notes[seq] !== undefined
      return known ? undefined : `${chain} ${seq} is ${kind}, and nobody has told it`
    })
    stage.invariant<RemotingEvent>("nothing is delivered twice", (event) => {
      if (event.kind === "arrived") return this.#arrivedTwice(event)
      if (event.kind === "handled") return this.#handledTwice(event)
      return event.kind === "dead" ? this.#deadAndHandled(event) : false
    })
    stage.invariant<RemotingEvent>("order is kept for each sender and receiver", (event) => {
      if (event.kind === "arrived") return this.#inOrder(event, "lastArrived")
      return event.kind === "handled" ? this.#inOrder(event, "lastHandled") : false
    })
    stage.invariant<RemotingEvent>("what is handled is what was told", (event) =>
      event.kind === "handled" ? this.#sameAsTold(event) : false,
    )
    stage.invariant<RemotingEvent>("nothing is lost on a connection that holds", (event) =>
      event.kind === "judged" ? this.#gapsExplained(event.player) : false,
    )
    stage.invariant<RemotingEvent>("what has arrived is handled or in dead letters", (event) =>
      event.kind === "judged" ? this.#allTaken(event.player) : false,
    )
    stage.invariant<RemotingEvent>("once the faults are over every message arrives", (event) =>
      event.kind === "judged" ? this.#settledArrived(event.player) : false,
    )
    stage.invariant<RemotingEvent>("notes are kept account of", (event) => this.#note(event))
  }

  /** Comes after the other checks, which see what was before the event. */
  #note(event: RemotingEvent): undefined | false {
    switch (event.kind) {
      case "opened":
      case "blocked":
      case "drained":
      case "closed":
        this.#connection(event.kind, this.#line(event.player, event.host))
        return undefined
      case "told":
        this.#told(event)
        return undefined
      case "arrived":
        this.#arrived(event)
        return undefined
      case "handled":
        this.#handled(event)
        return undefined
      case "dead": {
        const entry = this.#entry(event)
        entry.dead = true
        entry.refused = event.refused
        if (entry.arrivedAt === event.player) this.#inside.get(event.player)?.delete(entry)
        return undefined
      }
      default:
        return false
    }
  }

  #connection(kind: "opened" | "blocked" | "drained" | "closed", line: Line): void {
    switch (kind) {
      case "opened":
        line.open += 1
        line.opened += 1
        return
      case "blocked":
        line.held ??= []
        return
      case "drained":
        line.held = undefined
        return
      case "closed":
        line.open -= 1
        // They have not left by this one, so they wait for the next.
        for (const entry of line.held ?? []) entry.waitsSince = line.opened - line.open
        line.held = undefined
    }
  }

  #told({ player, host, chain, seq, hash, deferred, settled }: Told): void {
    const line = this.#line(player, host)
    const known = this.#chains.get(chain)
    const state: Chain = known ?? {
      player,
      host,
      notes: [],
      lastArrived: 0,
      lastHandled: 0,
      by: undefined,
      gaps: [],
    }
    this.#chains.set(chain, state)
    const entry: Entry = {
      name: `${chain} ${seq}`,
      hash,
      settled,
      // How many there had been before the first that it can have left by.
      waitsSince: deferred ? line.opened - line.open : undefined,
      arrivedAt: undefined,
      handled: false,
      dead: false,
      refused: false,
    }
    state.notes[seq] = entry
    if (!deferred) line.held?.push(entry)
  }

  #arrived({ player, chain, seq, connection }: Arrived): void {
    const state = this.#chain(chain)
    const entry = this.#entry({ chain, seq })
    const by = `${player} ${connection}`
    const { opened } = this.#line(state.player, state.host)
    for (let missing = state.lastArrived + 1; missing < seq; missing += 1) {
      const gap = state.notes[missing] as Entry
      const onlyOne = gap.waitsSince !== undefined && opened - gap.waitsSince === 1
      if (by === state.by) state.gaps.push({ gap, because: `${entry.name} came by the same connection` })
      else if (onlyOne)
        state.gaps.push({ gap, because: `${entry.name} came by the only connection since it was told` })
    }
    state.by = by
    state.lastArrived = seq
    entry.arrivedAt = player
    const inside = this.#inside.get(player) ?? new Set()
    this.#inside.set(player, inside.add(entry))
  }

  #handled({ player, chain, seq }: Handled): void {
    const entry = this.#entry({ chain, seq })
    entry.handled = true
    this.#chain(chain).lastHandled = seq
    this.#inside.get(player)?.delete(entry)
  }

  #arrivedTwice(event: Arrived): string | undefined {
    const { arrivedAt, name } = this.#entry(event)
    return arrivedAt === undefined ? undefined : `${name} came to ${arrivedAt}, and to ${event.player}`
  }

  #handledTwice(event: Handled): string | undefined {
    const { handled, dead, name } = this.#entry(event)
    if (dead) return `${name} was in dead letters, and ${event.player} has handled it`
    return handled ? `${name} was handled, and again by ${event.player}` : undefined
  }

  #deadAndHandled(event: { chain: string; seq: number; player: string }): string | undefined {
    const { handled, dead, name } = this.#entry(event)
    if (handled) return `${name} was handled, and is in dead letters of ${event.player}`
    return dead ? `${name} was in dead letters, and is again at ${event.player}` : undefined
  }

  #inOrder(event: Arrived | Handled, last: "lastArrived" | "lastHandled"): string | undefined {
    const before = this.#chain(event.chain)[last]
    return event.seq > before ? undefined : `${event.chain}: ${event.seq} ${event.kind} after ${before}`
  }

  #sameAsTold(event: Handled): string | undefined {
    const { hash, name } = this.#entry(event)
    return hash === event.hash ? undefined : `${name}: ${event.hash}, told as ${hash}`
  }

  #gapsExplained(player: string): string | undefined {
    for (const { player: sender, gaps } of this.#chains.values()) {
      if (sender !== player) continue
      for (const { gap, because } of gaps) if (!gap.dead) return `${gap.name} is lost: ${because}`
    }
    return undefined
  }

  #allTaken(player: string): string | undefined {
    const [first] = this.#inside.get(player) ?? []
    return first === undefined ? undefined : `${first.name} came to ${player}, and is nowhere`
  }

  #settledArrived(player: string): string | undefined {
    for (const { player: sender, notes } of this.#chains.values()) {
      if (sender !== player) continue
      const lost = notes.find((note) => note?.settled === true && !note.handled && !note.refused)
      if (lost !== undefined) return `${lost.name} has not been handled`
    }
    return undefined
  }

  #chain(chain: string): Chain {
    return this.#chains.get(chain) as Chain
  }

  #entry({ chain, seq }: { readonly chain: string; readonly seq: number }): Entry {
    return this.#chain(chain).notes[seq] as Entry
  }

  #line(player: string, host: string): Line {
    const key = `${player} ${host}`
    const known: Line = this.#lines.get(key) ?? { open: 0, opened: 0, held: undefined }
    this.#lines.set(key, known)
    return known
  }
}

/** What a player has with a host. */
interface Line {
  /** Connections that are open, and those there have been. */
  open: number
  opened: number
  /** What was told since the network took no more. */
  held: Entry[] | undefined
}

interface Chain {
  /** Who sends it, and to which host. */
  readonly player: string
  readonly host: string
  readonly notes: Entry[]
  lastArrived: number
  lastHandled: number
  /** The connection that the last one came by. */
  by: string | undefined
  /** Notes that did not come although a later one did, where that needs an explanation. */
  readonly gaps: { readonly gap: Entry; readonly because: string }[]
}

interface Entry {
  readonly name: string
  readonly hash: number
  readonly settled: boolean
  waitsSince: number | undefined
  /** Who it came to. */
  arrivedAt: string | undefined
  handled: boolean
  dead: boolean
  refused: boolean
}

import type { Connection } from "../../src/index.js"
import type { Life, Stage } from "../../src/sim/index.js"
import { RelayedConnection, relayed } from "../remoting/relayed-connection.js"
import type { ClaimTimes } from "./claim-times.js"
import type { ClusterEvent } from "./events.js"
import type { StoreHistory } from "./store-history.js"

/**
 * Who made a call, and whether it was still anybody's to send when it was sent.
 *
 * A call may wait on its node until it times out: for a host of its type, for a connection, for an actor that
 * moves. Its maker may be superseded meanwhile. The receiver cannot tell when a call was sent, so each call
 * carries a mark of its maker, and the mark is looked for in the bytes that leave. Three things excuse a mark
 * that leaves late, and nothing else does:
 *
 * - bytes that have left may take any time to arrive: only leaving is judged
 * - bytes that are written in one turn of the event loop leave at its end, and a process may stand still in
 *   between; so they are judged by what had been claimed when they were written
 * - a call to an actor of the same node leaves no bytes. It cannot have been delivered before that actor was
 *   claimed, and the store numbers claims in their order
 */
export interface Maker {
  readonly id: string
  readonly generation: number
}

/** A text for the arguments of a call. */
export function markOf({ id, generation }: Maker): string {
  return `${OPEN}${id}@${generation}${CLOSE}`
}

/** A call of an actor has left its node. */
export interface CallLeft {
  readonly kind: "call-left"
  readonly maker: Maker
  /** It was decided to let it leave no earlier than this, in true time. */
  readonly decidedMs: number
}

/**
 * Ports that tell of every call with a mark that leaves by them. `stepMs` is the true time of the present
 * step.
 */
export function markedPorts(life: Life, stepMs: () => number): Life["ports"] {
  const { network, scheduler } = life.ports
  /** When each of the batches that have not left was begun, the first of them first. */
  const begun = new Set<{ readonly atMs: number }>()
  const left = (maker: Maker) => {
    const [first] = begun
    const decidedMs = first?.atMs ?? stepMs()
    life.record({ kind: "call-left", maker, decidedMs } satisfies CallLeft)
  }
  return {
    ...life.ports,
    network: relayed(network, (connection) => new MarkedConnection(connection, left)),
    scheduler: {
      microtask: (task) => scheduler.microtask(task),
      // Whatever was written before this is over is written by then.
      afterMicrotasks: (task) => {
        const batch = { atMs: stepMs() }
        begun.add(batch)
        scheduler.afterMicrotasks(() => {
          task()
          begun.delete(batch)
        })
      },
      yield: (task) => scheduler.yield(task),
    },
  }
}

/**
 * Judges every call that an actor makes, unless clocks that are set back may hide that machines were
 * suspended.
 */
export function judgeMakers(stage: Stage, { claims }: StoreHistory): void {
  const mayHide = stage.faults.suspend > 0 && stage.faults["clock-jump"] > 0
  stage.invariant<ClusterEvent>("SingleActivation: no call is sent whose maker was superseded", (event) => {
    if (mayHide) return false
    if (event.kind === "call-left") return leftTooLate(event, claims)
    if (event.kind !== "turn" || event.maker === undefined || !event.isNear) return false
    return handedOverTooLate(event.maker, event, claims)
  })
}

/** What is wrong with a call that has left. */
export function leftTooLate({ maker, decidedMs }: CallLeft, claims: ClaimTimes): string | undefined {
  const by = claims.overtaking(maker.id, maker.generation)
  if (by === undefined || by.atMs >= decidedMs) return undefined
  return `a call of ${shown(maker)} was sent, and generation ${by.generation} had been claimed at ${by.atMs} ms`
}

/** What is wrong with a call that was handed over within a node, to an actor of that generation. */
export function handedOverTooLate(maker: Maker, to: Maker, claims: ClaimTimes): string | undefined {
  const by = claims.overtaking(maker.id, maker.generation)
  if (by === undefined || by.generation > to.generation) return undefined
  return `a call of ${shown(maker)} was handed over to ${shown(to)}, and generation ${by.generation} had been claimed before that`
}

class MarkedConnection extends RelayedConnection {
  readonly #left: (maker: Maker) => void

  constructor(inner: Connection, left: (maker: Maker) => void) {
    super(inner)
    this.#left = left
  }

  override write(bytes: Uint8Array): boolean {
    for (const maker of makersIn(bytes)) this.#left(maker)
    return super.write(bytes)
  }
}

function* makersIn(bytes: Uint8Array): Iterable<Maker> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = buffer.indexOf(OPEN); at >= 0; at = buffer.indexOf(OPEN, at + 1)) {
    const end = buffer.indexOf(CLOSE, at)
    if (end < 0) return
    const [id = "", generation] = buffer.toString("latin1", at + OPEN.length, end).split("@")
    yield { id, generation: Number(generation) }
  }
}

const OPEN = "[made by "
const CLOSE = "]"

function shown({ id, generation }: Maker): string {
  return `${id} at generation ${generation}`
}

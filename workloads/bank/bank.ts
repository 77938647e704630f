import type { PlacementStrategy } from "../../src/index.js"
import type { Stage } from "../../src/sim/index.js"
import { drawPlacement, isFaultless } from "../cluster/cluster.js"
import type { AccountRules } from "./account.js"
import { OrderBook } from "./order-book.js"

/** What the clients and actors of a bank go by. */
export interface Bank {
  readonly placement: PlacementStrategy
  readonly rules: AccountRules
  readonly book: OrderBook
  /** Who carries orders out: the client that has one, or an actor of the order's own. */
  readonly mover: "client" | "actor"
  readonly tellers: number
  readonly pauseMs: number
  /** Whether each node has a client that looks at accounts all the time. */
  readonly hasWatcher: boolean
  /** How many of the calls are given up sooner than need be. */
  readonly impatience: number
}

export function drawBank(stage: Stage, rules: AccountRules): Bank {
  const accounts = ["ada", "ben", "cyd", "dan"].slice(0, stage.knob("accounts", [2, 3, 4]))
  return {
    placement: drawPlacement(stage),
    rules,
    book: new OrderBook(accounts, stage.knob("orders", [20, 40])),
    mover: stage.knob("mover", ["client", "actor"]),
    tellers: stage.knob("tellers", [1, 2]),
    pauseMs: stage.knob("pauseMs", [100, 500]),
    hasWatcher: stage.knob("hasWatcher", [false, true]),
    impatience: isFaultless(stage) ? 0 : stage.knob("impatience", [0, 0.15]),
  }
}

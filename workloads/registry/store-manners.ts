import { type Life, SeededRandom } from "../../src/sim/index.js"
import type { RegistryShow } from "./show.js"

/** How a client of a store behaves. */
export interface StoreManners {
  /** Waited for before an answer to a commit is handed on. */
  hears(): Promise<void> | undefined
  /** Whether a save gets stuck on its way out: how long it takes until it is given up on. */
  sticks(): Promise<void> | undefined
}

export function drawManners(life: Life, show: RegistryShow): StoreManners {
  const random = new SeededRandom(life.ports.random.uint32())
  const wait = (ms: number) => new Promise<void>((resolve) => void life.ports.clock.setTimer(ms, resolve))
  return {
    hears: () => (show.answerMs === 0 ? undefined : wait(random.between(0, show.answerMs))),
    sticks: () => (!show.isOver && random.chance(show.sticking) ? wait(show.storeTimeoutMs) : undefined),
  }
}

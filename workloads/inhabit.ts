import type { Life } from "../src/sim/index.js"

/** Whoever lives on a machine until it leaves. */
export interface Inhabitant {
  /** Resolves when it has left. */
  readonly over: Promise<unknown>
}

/** One inhabitant after another, for as long as the process is there. One that cannot enter because the store is away tries again. */
export async function inhabit<I extends Inhabitant>(life: Life, house: House<I>): Promise<void> {
  const sleep = (ms: number) => new Promise<void>((resolve) => void life.ports.clock.setTimer(ms, resolve))
  house.vacated()
  if ((house.delayMs ?? 0) > 0) await sleep(house.delayMs as number)
  for (let act = 1; ; act += 1) {
    const inhabitant = await house.enter(act).catch((error: { readonly code?: string }) => {
      if (error.code !== "StoreUnavailable") throw error
      life.sometimes("a node cannot join for now")
      return undefined
    })
    if (inhabitant === undefined) {
      await sleep(200)
      continue
    }
    house.entered(inhabitant)
    await inhabitant.over
    house.vacated()
    life.sometimes("a node leaves and comes back")
    await sleep(house.isOver() ? 0 : 300)
  }
}

export interface House<I> {
  readonly delayMs?: number
  /** `act` counts from 1 in each life. */
  enter(act: number): Promise<I>
  entered(inhabitant: I): void
  vacated(): void
  /** Nobody has to wait any more. */
  isOver(): boolean
}

import { setTimeout } from "node:timers/promises"
import { type ActorHandle, type ActorSystem, CallError, withOptions } from "troupe"
import { Scheduler, schedulers } from "./scheduler.js"

/**
 * Ticks all schedulers until `signal` is aborted. Every node does this, so jobs are done for as long as one node
 * runs. A tick also starts a scheduler whose node has died.
 */
export async function tickAll(system: ActorSystem, everyMs: number, signal: AbortSignal): Promise<void> {
  const handles = schedulers.map((key) => withOptions(system.actor(Scheduler, key), { signal }))
  await Promise.all(handles.map((scheduler) => tickOne(scheduler, everyMs, signal)))
}

async function tickOne(scheduler: ActorHandle<Scheduler>, everyMs: number, signal: AbortSignal) {
  while (!signal.aborted) {
    await scheduler.tick().catch(ignoreFailedCall)
    await setTimeout(everyMs, undefined, { signal }).catch(() => {})
  }
}

/** The next tick makes up for one that failed. */
function ignoreFailedCall(error: unknown): void {
  if (!(error instanceof CallError)) throw error
}

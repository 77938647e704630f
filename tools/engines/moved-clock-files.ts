import { rmSync } from "node:fs"

/**
 * Removes what `faketime` has put into shared memory for this process and its children. It would be left behind by a
 * process that is killed, and a later process with the same id could not start. Children that are started afterwards
 * must not inherit the moved clock.
 */
export function removeMovedClockFiles(): void {
  const [semaphore, memory] = (process.env["FAKETIME_SHARED"] ?? "").split(" ")
  if (semaphore === undefined || memory === undefined) return
  rmSync(`/dev/shm/sem.${semaphore.slice(1)}`, { force: true })
  rmSync(`/dev/shm/${memory.slice(1)}`, { force: true })
}

/** The bytes of the heap that are in use once all that nobody holds is gone. */
export function settledHeap(): number {
  if (globalThis.gc === undefined) throw new Error("this row needs node --expose-gc")
  for (let round = 0; round < 4; round += 1) globalThis.gc()
  return process.memoryUsage().heapUsed
}

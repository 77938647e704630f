import type { Row } from "./driver.js"

/** The first row of an answer: the state of the store. */
export interface Head {
  readonly state: "valid" | "stale" | "behind"
  readonly epoch: string
  /** How much of the server's log is on its disk. */
  readonly lsn: number
  readonly horizon: number
  readonly n: number
  readonly key: string | undefined
  readonly revision: number
}

export function headOf(rows: readonly Row[]): Head {
  const [state, epoch, lsn, horizon, n, key, revision] = rows[0] as Row
  return {
    state: state as Head["state"],
    epoch: epoch as string,
    lsn: Number(lsn),
    horizon: Number(horizon),
    n: Number(n),
    key: (key as string | null) ?? undefined,
    revision: Number(revision),
  }
}

/** Small buffers of the driver are parts of a larger one, which they would keep in memory. */
export function bytesOf(value: unknown): Uint8Array {
  const buffer = value as Buffer
  if (buffer.length <= MOST_COPIED_BYTES) return new Uint8Array(buffer)
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
}

const MOST_COPIED_BYTES = 4_096

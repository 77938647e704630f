/**
 * Proof, by the kernel of one host, that a process has died.
 *
 * A lease shows that a node is dead only once it has expired. On one host the kernel knows it at once: it
 * releases what a process holds when the process ends, however it ended, and keeps what a stopped, paused or
 * swapped-out process holds. Across hosts there is no such proof, and leases decide.
 */
export interface Lifeline {
  /**
   * Creates the line of this process. Resolves with a `NoLine`, which gives the reason, where no proof is
   * possible.
   */
  hold(): Promise<HeldLine | NoLine>
  /**
   * Calls `dead` once, as soon as it is proven that the holder of the line has died or released it; never
   * from inside this call. It is never called where no proof is possible: another host, another platform, or
   * a mark that was removed.
   */
  follow(mark: string, dead: () => void): Following
}

/** A line that is held until the process dies or releases it. */
export interface HeldLine {
  /** Identifies the line for `follow`: printable ASCII without spaces, never the same twice. */
  readonly mark: string
  /** Releases the line. The process must not act in the name of this line afterwards. */
  release(): Promise<void>
}

/** The absence of a line: a death is known only when the lease has expired. */
export interface NoLine {
  readonly mark: undefined
  /** Why there is no line and, after a semicolon, what to do about it. */
  readonly because: string
  release(): Promise<void>
}

/** A line that is being followed. */
export interface Following {
  /** Stops following: `dead` is not called afterwards. */
  cancel(): void
}

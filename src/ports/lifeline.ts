/**
 * Proof, by the kernel of one host, that a process has died.
 *
 * A lease alone says that a node is dead only once it has run out. Among processes of one host the kernel
 * knows better, and at once: what a process holds, it drops with the process, however that ended; and what
 * one that is merely stopped, paused or swapped out holds, it keeps. Beyond one host nobody knows, and there
 * leases decide.
 */
export interface Lifeline {
  /** Where there is no such proof to be had, the line is none, and says why. */
  hold(): Promise<HeldLine | NoLine>
  /**
   * Calls `dead` once, as soon as it is proven that whoever held the line has died, or has let it go; never
   * from inside this call. Where there is nothing to prove it by (another host, another platform, a mark that
   * was cleaned away) it never does.
   */
  follow(mark: string, dead: () => void): Following
}

/** Held until the process dies, or lets it go. */
export interface HeldLine {
  /** What others follow it by: printable ASCII without spaces. Never the same twice. */
  readonly mark: string
  /** Nothing may be done any more in the name of this line when it is let go. */
  release(): Promise<void>
}

/** Nobody can follow it: a death is known when the lease has run out. */
export interface NoLine {
  readonly mark: undefined
  /** What is in the way, and after a semicolon what to do about it. */
  readonly because: string
  release(): Promise<void>
}

export interface Following {
  /** Nothing is told after this. */
  cancel(): void
}

import type { StoreInThread } from "./store.js"

/**
 * Threads of this process, each with an event loop of its own: one goes on while another computes. They share
 * the clocks of the process, end with it, and do not keep it alive.
 */
export interface Threads {
  /**
   * Starts a thread that renews leases, over a handle of its own on the store. It may fail at any time, also
   * at its start, which `ended` reports; the listener is never called inside this call.
   */
  startRenewal(store: RenewalStore, listener: ThreadListener): Thread
  /** Allocates memory for so many numbers. */
  share(count: number): SharedNumbers
  /** Finds the numbers that another thread of this process has shared. */
  shared(memory: unknown): SharedNumbers
  /** How long the thread renews for an event loop that shows no sign of life. Default 15,000; for tests. */
  readonly silenceMs?: number
}

/** How a thread opens the store. */
export interface RenewalStore extends StoreInThread {
  readonly namespace: string
}

/** Hears from a thread. */
export interface ThreadListener {
  /** The thread has sent a message. Messages arrive in order. */
  received(message: unknown): void
  /** The thread has ended, whether asked to or not: nothing of its program runs any longer. */
  ended(error: Error | undefined): void
}

/** A thread that was started. */
export interface Thread {
  /** Sends a message, which may be lost if the thread ends. */
  post(message: unknown): void
  /** Asks the thread to close its store and to end. Resolves once it has, or after a few seconds. */
  end(): Promise<void>
}

/** Some numbers in memory that threads share. One thread writes them, and any thread reads them. */
export interface SharedNumbers {
  /** What to send to the other thread. */
  readonly memory: unknown
  /** Replaces all of the numbers, which are finite. */
  write(numbers: readonly number[]): void
  /** The numbers of the last `write`, never some of one and some of another; zeros before the first. */
  read(): readonly number[]
}

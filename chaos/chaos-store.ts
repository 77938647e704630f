import type { StoreOptions } from "../tools/store-options.js"

/** The store of a run, as the rig sees it, which does to it what can go wrong with a store. */
export interface ChaosStore {
  /** How a node or a client reaches it. */
  optionsFor(name: string): StoreOptions
  /** Whether a process that is frozen now keeps nobody else from the store. */
  mayFreeze(): Promise<boolean>
  /** Nobody gets an answer from now on, until it is resumed. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Undefined if the store is a file. */
  readonly server: ChaosServer | undefined
  close(): Promise<void>
}

export interface ChaosServer {
  end(how: "stop" | "kill"): Promise<void>
  start(): Promise<void>
  /** Breaks the connections of a node or a client. */
  reset(name: string): void
}

/** The name of the store where it is one end of a connection. */
export const STORE = "store"

import type { ClusterStore, StoreProvider } from "../../ports/store.js"

/** What the suite has to be told about the stores of an adapter. */
export interface StoreHarness {
  /** Makes a store that is empty and that nothing else uses. */
  create(): Promise<StoreUnderTest>
  /**
   * The URL of a module in JavaScript that exports `provider`, a {@link ProviderOfModule}. Other processes
   * open a store through it. The cases with several processes are there if it is given.
   */
  readonly module?: string
  /** After so many more commits a watch from before them hears `gap`. The case is there if it is given. */
  readonly forgetsAfterCommits?: number
  /** Whether a store under test can `changeEpoch`. The cases for that are there if it can. */
  readonly changesEpoch?: boolean
}

export interface StoreUnderTest {
  /** Another handle on the same store. */
  open(namespace: string): Promise<ClusterStore>
  /** Called when the handles are closed. */
  dispose(): Promise<void>
  /** What `provider` of the module is called with, in another process. */
  readonly argument?: string
  /** Cuts the history of the store: a backup is restored, or whatever stands for it. */
  changeEpoch?(): Promise<void>
}

/** What the module of a harness exports as `provider`. */
export type ProviderOfModule = (argument: string) => StoreProvider

import type { ClusterStore, StoreProvider } from "../../ports/store.js"

/** What the suite needs to know about the stores of an adapter. */
export interface StoreHarness {
  /** Creates an empty store that nothing else uses. */
  create(): Promise<StoreUnderTest>
  /**
   * The URL of a JavaScript module that exports `provider`, a {@link ProviderOfModule}. Other processes open
   * a store through it. The cases with several processes are included if it is given.
   */
  readonly module?: string
  /**
   * The number of further commits after which an older watch receives `gap`. The case is included if this is
   * given.
   */
  readonly forgetsAfterCommits?: number
  /** Whether a store under test can `changeEpoch`. The cases for that are included if it can. */
  readonly changesEpoch?: boolean
}

/** A store that a test uses. */
export interface StoreUnderTest {
  /** Opens another handle on the same store. */
  open(namespace: string): Promise<ClusterStore>
  /** Called when the handles are closed. */
  dispose(): Promise<void>
  /** The argument for `provider` of the module, in another process. */
  readonly argument?: string
  /** Cuts the history of the store, for example by restoring a backup. */
  changeEpoch?(): Promise<void>
}

/** The type of the export `provider` of a harness module. */
export type ProviderOfModule = (argument: string) => StoreProvider

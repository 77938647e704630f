import { SettingsError } from "../errors/settings-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { ClusterStore, Listing, Revision } from "../ports/store.js"
import { type ClusterTerms, compareTerms, decodeClusterTerms, mayMeet } from "./cluster-terms.js"
import { termsCommit } from "./commits.js"
import { type LeaseTerms, observerMs, renewEveryMs, termsToWatch } from "./lease-terms.js"
import { listAll } from "./list-all.js"
import { decodeRecord, LEASES, leaseKey, NODES } from "./node-record.js"
import { CLUSTER } from "./registry-keys.js"

/**
 * Compares this node with the terms of the cluster in the store, and writes its own where that is allowed.
 * Resolves with the revision of the terms, on which the join is conditioned. Rejects with a `SettingsError`
 * if the node does not fit, or with a `StoreUnavailableError`.
 */
export async function checkTerms(own: ClusterTerms, dependencies: TermsCheckDependencies): Promise<Revision> {
  const { store } = dependencies
  while (true) {
    const { entry, epoch } = await store.get(CLUSTER)
    const decision = compareTerms(own, entry && decodeClusterTerms(entry.value))
    if (decision.kind !== "misfit") await checkSecrets(own, dependencies)
    if (decision.kind === "fits") return entry?.revision as Revision
    if (decision.kind === "misfit" && (await isAnybodyAlive(dependencies))) {
      // The nodes that are alive may have joined since, on other terms than those that were read.
      const now = await store.get(CLUSTER)
      if (now.epoch !== epoch || now.entry?.revision !== entry?.revision) continue
      throw new SettingsError(decision.field, decision.problem)
    }
    const result = await store.commit({ epoch, ...termsCommit(own, entry?.revision) })
    if (result.kind === "committed") return result.revision
    // Another node has written its terms since: compare again.
  }
}

interface TermsCheckDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  /** The terms to watch leases by that do not carry their own. */
  readonly terms: LeaseTerms
  /** Aborted when this node stops, and the outcome is no longer needed. */
  readonly stopping: AbortSignal
}

/**
 * The terms in the store are those of the node that joined last; a node that joined before may be alive and
 * have only the previous secret. Rejects if such a node renews its lease.
 */
async function checkSecrets({ secrets }: ClusterTerms, dependencies: TermsCheckDependencies): Promise<void> {
  const { entries } = await listAll(dependencies.store, NODES)
  const apart = entries.filter(({ value }) => {
    const record = decodeRecord(value)
    return record?.secrets !== undefined && record.status !== "down" && !mayMeet(secrets, record.secrets)
  })
  if (apart.length === 0) return
  const keys = new Set(apart.map(({ key }) => leaseKey(key.slice(NODES.length))))
  const leases = await listAll(dependencies.store, LEASES)
  const theirs = { ...leases, entries: leases.entries.filter(({ key }) => keys.has(key)) }
  const renewed = await firstRenewed(theirs, dependencies, (key) => keys.has(key))
  if (renewed === undefined) return
  const address = renewed.slice(LEASES.length).replace(/#.*/, "")
  throw new SettingsError(
    "listen.secret",
    `the node at ${address} has no secret in common with this one; to change the secret start every node with [next, current] before the first with next alone`,
  )
}

/**
 * Whether a lease is renewed or created before all present leases must have expired. After a crash of all
 * nodes their leases are still in the store, as no node ended them.
 */
async function isAnybodyAlive(dependencies: TermsCheckDependencies): Promise<boolean> {
  const leases = await listAll(dependencies.store, LEASES)
  return (await firstRenewed(leases, dependencies, () => true)) !== undefined
}

/**
 * The key of the first lease that is renewed, of those that count; undefined if all expire before. The leases
 * are listed again and again: a watch may report a renewal long after it was made, and repeats old ones.
 */
async function firstRenewed(
  leases: Listing,
  { store, clock, terms, stopping }: TermsCheckDependencies,
  counts: (key: string) => boolean,
): Promise<string | undefined> {
  if (leases.entries.length === 0) return undefined
  const known = new Map(leases.entries.map(({ key, revision }) => [key, revision]))
  const longestMs = Math.max(...leases.entries.map(({ value }) => observerMs(termsToWatch(value, terms))))
  const until = clock.monotonicMs() + longestMs
  while (true) {
    const leftMs = until - clock.monotonicMs()
    await pause(Math.max(0, Math.min(leftMs, renewEveryMs(terms))), clock, stopping)
    const { epoch, entries } = await listAll(store, LEASES)
    if (epoch !== leases.epoch) throw new StoreUnavailableError(EPOCH_CHANGED, "not-committed")
    const there = entries.filter(({ key }) => counts(key))
    const renewed = there.find(({ key, revision }) => known.get(key) !== revision)
    if (renewed !== undefined) return renewed.key
    if (there.length === 0 || clock.monotonicMs() >= until) return undefined
  }
}

/** Rejects if the node stops meanwhile. */
function pause(ms: number, clock: Clock, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      timer.cancel()
      reject(new StoreUnavailableError("this node is stopping", "not-committed", { problem: "closed" }))
    }
    const timer = clock.setTimer(ms, () => {
      stopping.removeEventListener("abort", stop)
      resolve()
    })
    if (stopping.aborted) stop()
    else stopping.addEventListener("abort", stop, { once: true })
  })
}

const EPOCH_CHANGED = "the epoch of the store has changed"

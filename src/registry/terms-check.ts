import { SettingsError } from "../errors/settings-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { ClusterStore, Listing, Revision, StoreWatch } from "../ports/store.js"
import { type ClusterTerms, compareTerms, decodeClusterTerms, mayMeet } from "./cluster-terms.js"
import { termsCommit } from "./commits.js"
import { type LeaseTerms, observerMs, termsToWatch } from "./lease-terms.js"
import { decodeRecord, LEASES, leaseKey, NODES } from "./node-record.js"
import { CLUSTER } from "./registry-keys.js"

/**
 * Sees to it that this node fits into the cluster that the store holds, and gives the revision of the terms
 * that it fits, on which a join is conditioned. Rejects with a `SettingsError` if it does not fit, or with a
 * `StoreUnavailableError`.
 */
export async function checkTerms(own: ClusterTerms, tools: TermsCheckTools): Promise<Revision> {
  const { store } = tools
  while (true) {
    const { entry, epoch } = await store.get(CLUSTER)
    const decision = compareTerms(own, entry && decodeClusterTerms(entry.value))
    if (decision.kind !== "misfit") await checkSecrets(own, tools)
    if (decision.kind === "fits") return entry?.revision as Revision
    if (decision.kind === "misfit" && (await isAnybodyAlive(tools))) {
      // Whoever is alive may have joined since, on other terms than those that were read.
      const now = await store.get(CLUSTER)
      if (now.epoch !== epoch || now.entry?.revision !== entry?.revision) continue
      throw new SettingsError(decision.field, decision.problem)
    }
    const result = await store.commit({ epoch, ...termsCommit(own, entry?.revision) })
    if (result.kind === "committed") return result.revision
    // Others have written meanwhile: they may fit or not.
  }
}

interface TermsCheckTools {
  readonly store: ClusterStore
  readonly clock: Clock
  /** By which leases are watched that do not say their own. */
  readonly terms: LeaseTerms
  /** Aborted when this node stops: it has no use for the outcome then. */
  readonly stopping: AbortSignal
}

/**
 * The terms are those of the node that joined last: here one that is alive may have only the secret of
 * before.
 */
async function checkSecrets({ secrets }: ClusterTerms, tools: TermsCheckTools): Promise<void> {
  const { entries } = await tools.store.list(NODES)
  const apart = entries.filter(({ value }) => {
    const record = decodeRecord(value)
    return record?.secrets !== undefined && record.status !== "down" && !mayMeet(secrets, record.secrets)
  })
  if (apart.length === 0) return
  const keys = new Set(apart.map(({ key }) => leaseKey(key.slice(NODES.length))))
  const leases = await tools.store.list(LEASES)
  const theirs = { ...leases, entries: leases.entries.filter(({ key }) => keys.has(key)) }
  const renewed = await firstRenewed(theirs, tools, (key) => keys.has(key))
  if (renewed === undefined) return
  const address = renewed.slice(LEASES.length).replace(/#.*/, "")
  throw new SettingsError(
    "listen.secret",
    `the node at ${address} has no secret in common with this one; to change the secret start every node with [next, current] before the first with next alone`,
  )
}

/**
 * Whether a lease is renewed, or a new one comes, within the time that all leases have left at most. After a
 * crash of all nodes their leases still stand there, and nobody ended them.
 */
async function isAnybodyAlive(tools: TermsCheckTools): Promise<boolean> {
  const leases = await tools.store.list(LEASES)
  return (await firstRenewed(leases, tools, () => true)) !== undefined
}

/** The key of the first lease that is renewed, of those that count; undefined if none is while they last. */
async function firstRenewed(
  leases: Listing,
  { store, clock, terms, stopping }: TermsCheckTools,
  counts: (key: string) => boolean,
): Promise<string | undefined> {
  const [first] = leases.entries
  if (first === undefined) return undefined
  const left = new Set(leases.entries.map(({ key }) => key))
  const longestMs = Math.max(...leases.entries.map(({ value }) => observerMs(termsToWatch(value, terms))))
  return new Promise((resolve, reject) => {
    let watch: StoreWatch | undefined
    let isOver = false
    const cleanUp = () => {
      isOver = true
      timer.cancel()
      watch?.cancel()
      stopping.removeEventListener("abort", stop)
    }
    const end = (renewed: string | undefined) => {
      cleanUp()
      resolve(renewed)
    }
    const stop = () => {
      cleanUp()
      reject(new StoreUnavailableError("this node is stopping", "not-committed", { problem: "closed" }))
    }
    const timer = clock.setTimer(longestMs, () => end(undefined))
    try {
      watch = store.watch(LEASES, leases, {
        changed: (changes) => {
          for (const { key, value } of changes) {
            if (!counts(key)) continue
            if (value !== undefined) return end(key)
            left.delete(key)
          }
          if (left.size === 0) end(undefined)
        },
        // What was missed may be a renewal.
        gap: () => end(first.key),
      })
      // It may have told all before it was returned.
      if (isOver) watch.cancel()
      else if (stopping.aborted) stop()
      else stopping.addEventListener("abort", stop)
    } catch (error) {
      cleanUp()
      reject(error)
    }
  })
}

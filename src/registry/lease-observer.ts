import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import { type LeaseTerms, observerMs } from "./lease-terms.js"

/**
 * The observer's half of node leases: a decision.
 *
 * Every process watches all leases, and counts for itself, on its own clock, for how long it has seen each at
 * one revision: from when it received the first sight of it. A lease that has not moved for the ttl and its
 * margin has a holder that is silent, since that one counted a shorter time from an earlier moment; so
 * whoever sees this may end it. The commit is conditioned on the very revision, so a renewal that this
 * process has not heard of yet is never ended by mistake.
 *
 * Sights belong to the process and not to its node: one that is fenced and has not come back still watches,
 * or two nodes that fenced each other would wait for ever. A lease of its own former life is ended like any
 * other.
 *
 * A process that could not renew its own lease in time has not been able to see others renew theirs either:
 * while it waits for the store it ends nobody's for having run out, and once it has its own again it gives
 * the others as much time as they need for the same. Otherwise the first that finds the store again after an
 * outage would end all others.
 *
 * Only one of all who see it has to end it, and any of them can; those who come second are refused, and that
 * is all. A death that the kernel proves needs no waiting.
 */
export class LeaseObserver {
  readonly #terms: LeaseTerms
  readonly #sights: Map<string, LeaseSight>

  constructor(terms: LeaseTerms, resumed?: Iterable<readonly [string, LeaseSight]>) {
    this.#terms = terms
    this.#sights = new Map(resumed)
  }

  get snapshot(): readonly (readonly [string, LeaseSight])[] {
    return [...this.#sights]
  }

  /**
   * The store showed this lease, by a listing or a watch. `terms` are the lease's own. Says whether it has
   * moved since it was first seen.
   */
  saw(node: string, revision: Revision, now: MonotonicMs, terms: LeaseTerms = this.#terms): boolean {
    assert(revision > NOT_SEEN, "a lease was seen at a revision that no store gives")
    const known = this.#sights.get(node)
    if (known !== undefined && known.revision >= revision) return false
    this.#sights.set(node, { revision, endAt: now + observerMs(terms), isDead: known?.isDead ?? false })
    return known !== undefined && known.revision !== NOT_SEEN
  }

  /** It is not there any more. */
  gone(node: string): void {
    this.#sights.delete(node)
  }

  /**
   * The kernel says that its holder has died. A renewal that the holder sent before may still arrive, and
   * helps it no more.
   */
  died(node: string): void {
    const known = this.#sights.get(node) ?? { revision: NOT_SEEN, endAt: Number.POSITIVE_INFINITY }
    this.#sights.set(node, { ...known, isDead: true })
  }

  /** This process hears from the store again, after it had not for so long that its own lease had run out. */
  cameBack(now: MonotonicMs): void {
    for (const [node, sight] of this.#sights) {
      const endAt = Math.max(sight.endAt, now + this.#terms.ttlMs / 2)
      this.#sights.set(node, { ...sight, endAt })
    }
  }

  /** The store began again: nothing that was seen before means anything. */
  forgetAll(): void {
    this.#sights.clear()
  }

  /**
   * The leases that may be ended now, at the revisions that they were seen at. Each is said again after a
   * while.
   */
  due(now: MonotonicMs): readonly EndableLease[] {
    const due: EndableLease[] = []
    for (const [node, sight] of this.#sights) {
      if (sight.revision === NOT_SEEN || (!sight.isDead && now < sight.endAt)) continue
      if (sight.askedAt !== undefined && now < sight.askedAt + this.#againMs) continue
      assert(now >= (sight.askedAt ?? now), "the time of an observer went back")
      this.#sights.set(node, { ...sight, askedAt: now })
      due.push({ node, lease: sight.revision, proved: sight.isDead })
    }
    return due
  }

  /** When to ask for `due` next. */
  get wakeAt(): MonotonicMs | undefined {
    let wakeAt: MonotonicMs | undefined
    for (const { revision, endAt, isDead, askedAt } of this.#sights.values()) {
      if (revision === NOT_SEEN) continue
      const firstAt = isDead ? Number.NEGATIVE_INFINITY : endAt
      const at = askedAt === undefined ? firstAt : Math.max(firstAt, askedAt + this.#againMs)
      if (wakeAt === undefined || at < wakeAt) wakeAt = at
    }
    return wakeAt
  }

  get #againMs(): number {
    return this.#terms.ttlMs / 10
  }
}

/** Its death is known before its lease is. */
const NOT_SEEN: Revision = 0

export interface LeaseSight {
  readonly revision: Revision
  /** From when on it may be ended. */
  readonly endAt: MonotonicMs
  /** Proved. */
  readonly isDead: boolean
  /** When it was last said to be due. */
  readonly askedAt?: MonotonicMs
}

/** Delete lease and record in one commit, on the condition that the lease is at this revision. */
export interface EndableLease {
  readonly node: string
  readonly lease: Revision
  readonly proved: boolean
}

import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import { type LeaseTerms, observerMs } from "./lease-terms.js"

/**
 * The observer's half of node leases: a decision.
 *
 * A process reads the leases of a few other nodes, and counts on its own clock for how long it has seen each
 * at one revision: from when it received the first sight of it. If a lease has not been renewed for the ttl
 * and its margin, its holder is silent, since the holder counted a shorter time from an earlier moment; so
 * every process that sees this may end the lease. The commit is conditioned on that revision, so a renewal
 * that this process has not seen yet is never ended by mistake.
 *
 * Sights belong to the process and not to its incarnation: a process that is fenced still observes, or two
 * nodes that fenced each other would wait for ever. The lease of a former incarnation of this process is
 * ended like any other.
 *
 * A process that could not renew its own lease in time may not have seen other nodes renew theirs either:
 * while it waits for the store it ends no expired lease, and once its own is renewed it gives the others as
 * much time as they need for the same. Otherwise the first node that reaches the store after an outage would
 * end all others. The same holds for a process that joins: until its join is confirmed it ends nothing.
 *
 * An outage begins before any lease has expired, and the lease of another node may be due before this
 * process's own. So a lease is ended only after the store has confirmed a renewal that this process sent in
 * the second half of the time it waited: the holder did not renew then, although the store took renewals.
 * Without this the end of the lease would be sent during the outage, and a store that keeps requests until
 * it is back would carry it out before the renewal of a healthy holder.
 *
 * Several processes may end a lease at once: the first commit is made, and the others are refused. A death
 * that the kernel proves needs no waiting.
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
   * The store has shown this lease. `terms` are the lease's own. Returns whether the
   * lease was renewed since it was first seen.
   */
  saw(node: string, revision: Revision, now: MonotonicMs, terms: LeaseTerms = this.#terms): boolean {
    assert(revision > NOT_SEEN, "a lease was seen at a revision that no store gives")
    const known = this.#sights.get(node)
    if (known !== undefined && known.revision >= revision) return false
    this.#sights.set(node, { revision, endAt: now + observerMs(terms), isDead: known?.isDead ?? false })
    return known !== undefined && known.revision !== NOT_SEEN
  }

  /** The lease is gone. */
  gone(node: string): void {
    this.#sights.delete(node)
  }

  /**
   * The kernel has proved that the holder is dead. A renewal that the holder sent before may still arrive,
   * and changes nothing.
   */
  died(node: string): void {
    const known = this.#sights.get(node) ?? { revision: NOT_SEEN, endAt: Number.POSITIVE_INFINITY }
    this.#sights.set(node, { ...known, isDead: true })
  }

  /** The store answers this process again, after its own lease had expired. */
  cameBack(now: MonotonicMs): void {
    for (const [node, sight] of this.#sights) {
      const endAt = Math.max(sight.endAt, now + this.#terms.ttlMs / 2)
      this.#sights.set(node, { ...sight, endAt })
    }
  }

  /** Another epoch of the store has begun, in which the sights of before mean nothing. */
  forgetAll(): void {
    this.#sights.clear()
  }

  /**
   * The leases that may be ended now, at the revisions seen. Returns each of them again after a while.
   * `renewedAt` is when this process sent its last renewal that the store has confirmed.
   */
  due(now: MonotonicMs, renewedAt: MonotonicMs): readonly EndableLease[] {
    assert(renewedAt <= now, "an observer's own renewal was confirmed before it was sent")
    const due: EndableLease[] = []
    for (const [node, sight] of this.#sights) {
      if (sight.revision === NOT_SEEN || (!sight.isDead && now < sight.endAt)) continue
      if (sight.askedAt !== undefined && now < sight.askedAt + this.#againMs) continue
      assert(now >= (sight.askedAt ?? now), "the time of an observer went back")
      this.#sights.set(node, { ...sight, askedAt: now })
      if (!sight.isDead && renewedAt < sight.endAt - observerMs(this.#terms) / 2) continue
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

/** The revision of a lease whose holder is known to be dead before the lease was seen. */
const NOT_SEEN: Revision = 0

export interface LeaseSight {
  readonly revision: Revision
  /** From when on the lease may be ended. */
  readonly endAt: MonotonicMs
  /** Whether the death of the holder is proved. */
  readonly isDead: boolean
  /** When `due` has last returned it, or kept it back for want of a renewal. */
  readonly askedAt?: MonotonicMs
}

/** A lease to delete with its record in one commit, on the condition that it is at this revision. */
export interface EndableLease {
  readonly node: string
  readonly lease: Revision
  readonly proved: boolean
}

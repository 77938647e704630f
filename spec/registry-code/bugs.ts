/** Bugs that can be planted: around the decisions, in their commits, in the drivers, and in the store. */
export const BUGS = {
  "takeover-without-record":
    "a placement is taken over without looking at the record of the node that it names",
  "deadline-from-reply": "the holder counts its deadline from when the answer came",
  "deadline-from-look": "a look that finds the lease renewed moves the deadline",
  "answer-of-another": "the answer to an earlier renewal is taken for that of the present one",
  "doors-open-unconfirmed": "past the deadline the doors open as soon as a renewal is sent",
  "refusal-goes-on": "a renewal that is refused counts as one that is accepted",
  "renewal-without-lease": "a renewal is not conditioned on the lease",
  "renewal-without-record": "a renewal is not conditioned on the record",
  "renewal-unconditioned": "a renewal has no condition at all",
  "save-on-ownership": "a save is conditioned on the placement alone",
  "save-on-state": "a save is conditioned on the state alone",
  "release-unconditioned": "a release deletes whatever placement there is",
  "claim-without-record": "a claim is not conditioned on the claimer's own record",
  "adopted-generation": "a node that a placement names runs under the generation it finds there",
  "generation-restarts": "the store counts the generations of a placement from 1 again after a release",
  "doors-of-node": "an activation that has ended still gets through as long as its node may act",
  "read-before-claim": "the state is read before the claim has committed",
  "ended-early": "a lease is ended a tick too early",
  "ended-unconditioned": "a lease is ended whatever revision it is at by now",
  "given-up-unfenced": "a leaving node gives up its lease while its activation runs",
  "down-unconditioned": "`down` is written whatever became of the record",
  "down-adopted": "a node that reads its record goes on although it says `down`",
  "down-taken-for-leaving":
    "a leaving node that reads `down` in its record takes it for its own announcement",
  "refusal-is-failure": "a save that was sent twice and refused is told as failed",
  "silence-is-failure": "a save that was not answered is told as failed",
  "wall-is-ignored": "doors do not look at the wall clock",
  "wall-by-lead": "doors look at how far the wall clock is ahead, and not for the deadline on it",
  "cache-goes-back": "a cache takes an entry that is older than its own",
  "forwards-unlimited": "a call follows the nodes that name another one for as long as they do",
} as const

export type Bug = keyof typeof BUGS

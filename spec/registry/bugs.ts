/** Mistakes that can be planted in the protocol. */
export const BUGS = {
  "takeover-without-record":
    "a placement is taken over without looking at the record of the node that it names",
  "deadline-from-reply": "the holder counts its deadline from when the answer came",
  "renewal-without-lease": "a renewal is not conditioned on the lease",
  "renewal-without-record": "a renewal is not conditioned on the record",
  "renewal-unconditioned": "a renewal has no condition at all",
  "doors-open-unconfirmed": "past the deadline the doors open as soon as a renewal is sent",
  "refusal-goes-on": "a renewal that is refused counts as one that is accepted",
  "save-on-ownership": "a save is conditioned on the placement alone",
  "release-unconditioned": "a release deletes whatever placement there is",
  "claim-without-record": "a claim is not conditioned on the claimer's own record",
  "adopted-generation": "a node that a placement names runs under the generation it finds there",
  "generation-restarts": "a generation is 1 again after a release",
  "ended-early": "a lease is ended a tick too early",
  "doors-of-node": "an activation that has ended still gets through as long as its node may act",
  "read-before-claim": "the state is read before the claim has committed",
  "given-up-unfenced": "a leaving node gives up its lease while its activation runs",
  "down-unconditioned": "`down` is written whatever became of the record",
  "down-adopted": "a node that reads its record goes on although it says `down`",
  "undecided-restart": "an entity starts again under its shard's generation before its last write is decided",
  "refusal-is-failure": "a save that was sent twice and refused is told as failed",
  "cache-goes-back": "a cache takes an entry that is older than its own",
} as const

export type Bug = keyof typeof BUGS

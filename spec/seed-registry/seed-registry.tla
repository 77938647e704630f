---------------------------- MODULE seed_registry ----------------------------
(* The model of seed-registry.ts in the language it came in. The counts of both agree. *)
EXTENDS Naturals, FiniteSets

CONSTANTS Nodes, Actors, MaxMissed, Nowhere

VARIABLES status, placement, missed, alive, cache

vars == <<status, placement, missed, alive, cache>>

Init ==
  /\ status = [n \in Nodes |-> "active"]
  /\ placement = [a \in Actors |-> Nowhere]
  /\ missed = [n \in Nodes |-> 0]
  /\ alive = [n \in Nodes |-> TRUE]
  /\ cache = [n \in Nodes |-> [a \in Actors |-> Nowhere]]

SendHeartbeat(n) ==
  /\ alive[n]
  /\ missed' = [missed EXCEPT ![n] = 0]
  /\ status' = IF status[n] = "suspect" THEN [status EXCEPT ![n] = "active"] ELSE status
  /\ UNCHANGED <<placement, alive, cache>>

HeartbeatTick(n) ==
  /\ ~alive[n]
  /\ status[n] # "failed"
  /\ missed[n] < MaxMissed
  /\ missed' = [missed EXCEPT ![n] = missed[n] + 1]
  /\ UNCHANGED <<status, placement, alive, cache>>

DetectFailure(n) ==
  /\ missed[n] >= MaxMissed
  /\ status[n] # "failed"
  /\ status' = [status EXCEPT ![n] = IF status[n] = "active" THEN "suspect" ELSE "failed"]
  /\ placement' = IF status[n] = "active"
                  THEN placement
                  ELSE [a \in Actors |-> IF placement[a] = n THEN Nowhere ELSE placement[a]]
  /\ UNCHANGED <<missed, alive, cache>>

NodeCrash(n) ==
  /\ alive[n]
  /\ alive' = [alive EXCEPT ![n] = FALSE]
  /\ UNCHANGED <<status, placement, missed, cache>>

ClaimActor(n, a) ==
  /\ alive[n]
  /\ status[n] = "active"
  /\ placement[a] = Nowhere
  /\ placement' = [placement EXCEPT ![a] = n]
  /\ cache' = [cache EXCEPT ![n] = [cache[n] EXCEPT ![a] = n]]
  /\ UNCHANGED <<status, missed, alive>>

ReleaseActor(n, a) ==
  /\ placement[a] = n
  /\ placement' = [placement EXCEPT ![a] = Nowhere]
  /\ UNCHANGED <<status, missed, alive, cache>>

InvalidateCache(n, a) ==
  /\ alive[n]
  /\ cache[n][a] # placement[a]
  /\ cache' = [cache EXCEPT ![n] = [cache[n] EXCEPT ![a] = placement[a]]]
  /\ UNCHANGED <<status, placement, missed, alive>>

Next ==
  \E n \in Nodes :
    \/ SendHeartbeat(n)
    \/ HeartbeatTick(n)
    \/ DetectFailure(n)
    \/ NodeCrash(n)
    \/ \E a \in Actors : ClaimActor(n, a) \/ ReleaseActor(n, a) \/ InvalidateCache(n, a)

Spec == Init /\ [][Next]_vars

TypeOK ==
  /\ status \in [Nodes -> {"active", "suspect", "failed"}]
  /\ placement \in [Actors -> Nodes \union {Nowhere}]
  /\ missed \in [Nodes -> 0..MaxMissed]

SingleActivation ==
  \A a \in Actors : Cardinality({n \in Nodes : placement[a] = n}) <= 1

PlacementConsistency ==
  \A a \in Actors : placement[a] = Nowhere \/ status[placement[a]] # "failed"
=============================================================================

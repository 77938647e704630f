import type { ActorEnvironment } from "../actor/actor-environment.js"
import { NodeFenced, NodeRejoined } from "../membership/member-events.js"
import { SeedCluster } from "../membership/seed-cluster.js"
import type { Ports } from "../ports/ports.js"
import type { StartWait } from "../registry/start-wait.js"
import { PROTOCOL_VERSION } from "../remote/frames.js"
import type { Remoting } from "../remote/remoting.js"
import type { EntitySharding } from "../sharding/entities/entity-sharding.js"
import { publishChanges } from "./publish-changes.js"
import type { CheckedSettings } from "./settings.js"

/** Joins a cluster without a store. Rejects as `SeedCluster.join` does. */
export function joinBySeeds({
  settings,
  environment,
  ports,
  remoting,
  sharding,
  wait,
}: Joining): Promise<SeedCluster> {
  const { events, clock, random, logger } = environment
  const { seeds, terms } = settings.membership
  const { shards } = settings
  return SeedCluster.join({
    remoting,
    clock,
    random,
    logger,
    terms,
    seeds,
    about: {
      roles: settings.roles,
      types: Object.keys(shards),
      terms: { version: PROTOCOL_VERSION, codec: remoting.codecName, shards },
    },
    figures: () => ({ busy: ports.load?.busy() ?? 0, activations: 0 }),
    joinMs: settings.joinMs,
    onAbort: (abort) => wait.onAbort(abort),
    viewed: (view, before) => {
      sharding.viewed(view, remoting.self)
      publishChanges(environment, before, view)
    },
    fenced: (node, because) => {
      sharding.fenced()
      events.publish(new NodeFenced(node, because))
    },
    rejoined: (node) => events.publish(new NodeRejoined(node)),
  })
}

interface Joining {
  readonly settings: CheckedSettings
  readonly environment: ActorEnvironment
  readonly ports: Ports
  readonly remoting: Remoting
  readonly sharding: EntitySharding
  readonly wait: StartWait
}

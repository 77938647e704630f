import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { InternalRef } from "../actor/internal-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import type { Ports } from "../ports/ports.js"
import { Remoting } from "../remote/remoting.js"
import type { BoundListener } from "./bound-listener.js"
import { isLoopback } from "./remote-settings.js"
import type { CheckedSettings } from "./settings.js"

/** Creates the remoting of a system that listens. */
export function systemRemoting({
  settings,
  ports,
  environment,
  bound,
  store,
  local,
}: RemotingParts): Remoting {
  const { terms, inbound, keepAlive, maxMessageBytes, codec, types, listen } = settings.remote
  const { address, deadLetters, deadlines, dispatcher, events, logger } = environment
  const { host, port } = bound.listener.at
  logger.log("info", "listening for other nodes", { at: `${host}:${port}` })
  if (listen?.tls === undefined && !isLoopback(host)) {
    logger.log(
      "warn",
      "connections between nodes are not encrypted; set listen.tls unless the network is trusted",
    )
  }
  const options = {
    self: bound.self,
    address,
    namespace: settings.namespace,
    store,
    keys: bound.keys,
    tls: listen?.tls,
    terms,
    inbound,
    keepAlive,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxMessageBytes,
    codec,
    types,
    ports,
    logger,
    events,
    deadLetters,
    deadlines,
    dispatcher,
    local,
  }
  return new Remoting(options, bound.listener)
}

interface RemotingParts {
  readonly settings: CheckedSettings
  readonly ports: Ports
  readonly environment: ActorEnvironment
  readonly bound: BoundListener
  /** The identity of the store; empty without a store. */
  readonly store: string
  /** Returns the ref for a path of this node. */
  local(path: ActorPath): InternalRef<never>
}

const CONNECT_TIMEOUT_MS = 5_000

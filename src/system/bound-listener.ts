import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { canonicalHost } from "../address/host.js"
import { NodeId } from "../address/node-id.js"
import type { NetworkError } from "../errors/network-error.js"
import { SettingsError } from "../errors/settings-error.js"
import type { Arrival, Connection, Endpoint, Listener } from "../ports/network.js"
import type { Ports } from "../ports/ports.js"
import { type SharedKeys, sharedKeys } from "../remote/shared-keys.js"
import { type CheckedListen, isLoopback, missingSecret, withBrackets } from "./remote-settings.js"
import type { CheckedSettings } from "./settings.js"

/**
 * The listener of a system that does not exist yet: the port, which the operating system may choose, is part
 * of every path of the system, so it is bound first.
 */
export interface BoundListener {
  readonly listener: Listener
  readonly self: NodeId
  readonly address: Address
  /** The keys by which nodes of this cluster authenticate. */
  readonly keys: SharedKeys
  /** Passes on the connections that were accepted so far, and all later ones. */
  deliverTo(handler: ArrivalHandler): void
}

/** Receives the connections to a node. */
interface ArrivalHandler {
  arrived(arrival: Arrival): void
  accept(connection: Connection, arrival: Arrival | undefined): void
  /** The TLS handshake of an arrival failed. */
  refused(remote: Endpoint, error: NetworkError, arrival: Arrival): void
}

/** Binds the port. Rejects with a `SettingsError`, or with a `NetworkError` if the port cannot be bound. */
export async function bindListener(
  listen: CheckedListen,
  settings: CheckedSettings,
  ports: Ports,
): Promise<BoundListener> {
  const early: Connection[] = []
  let handler: ArrivalHandler = {
    arrived: (arrival) => arrival.admit(),
    accept: (connection) => early.push(connection),
    refused: () => {},
  }
  const { host, port, tls, secrets } = listen
  const keys = await sharedKeys(secrets, settings.namespace, ports.digest)
  const listener = await ports.network.listen(
    { host: withoutBrackets(host), port },
    (connection, arrival) => handler.accept(connection, arrival),
    {
      tls,
      arrived: (arrival) => handler.arrived(arrival),
      refused: (remote, error, arrival) => handler.refused(remote, error, arrival),
    },
  )
  try {
    // A host name may resolve to another address than its text suggests.
    if (isLoopback(host) && !isLoopback(listener.at.host) && keys.isOpen && tls?.mutual !== true) {
      throw missingSecret(listener.at.host)
    }
    const address = addressOf(listen, listener, settings)
    const self = NodeId.fresh(address.host as string, address.port as number, ports.random)
    return {
      listener,
      self,
      address,
      keys,
      deliverTo: (given) => {
        handler = given
        for (const connection of early.splice(0)) given.accept(connection, undefined)
      },
    }
  } catch (error) {
    for (const connection of early) connection.destroy()
    await listener.close()
    throw error
  }
}

function addressOf({ host }: CheckedListen, { at }: Listener, settings: CheckedSettings): Address {
  const { advertise } = settings.remote
  if (advertise.host === undefined && isWildcard(host)) {
    throw new SettingsError(
      "advertise.host",
      `other nodes cannot connect to ${host}; set advertise.host to the address they should use`,
    )
  }
  const checked = canonicalHost(withBrackets(advertise.host ?? host))
  if ("problem" in checked) throw new SettingsError("listen.host", checked.problem)
  const { scheme, system } = settings.address
  const address = Address.of({
    scheme: `${scheme}.tcp`,
    system,
    host: checked.host,
    port: advertise.port ?? at.port,
  })
  if (address instanceof ActorPathError) throw new SettingsError("advertise", address.message)
  return address
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || withoutBrackets(host) === "::"
}

function withoutBrackets(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host
}

import { onTestFinished } from "vitest"
import { DeadLetter } from "../../src/actor/dead-letters.js"
import type { EventClass } from "../../src/actor/event-stream.js"
import { MemberLeft, MemberRemoved, MemberUp } from "../../src/membership/member-events.js"
import type { Logger } from "../../src/ports/logger.js"
import type { Connection, Network } from "../../src/ports/network.js"
import { AssociationLost } from "../../src/remote/association-events.js"
import { nodeNetwork } from "../../src/runtime/node-network.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"
import { notice, recorded } from "./support/until.js"

/** A system on loopback whose network can be disconnected, which records its log, events and dead letters. */
export interface TestNode {
  readonly system: ActorSystem
  readonly authority: string
  readonly deadLetters: readonly DeadLetter[]
  /** `level message` of each line, and its fields as JSON. */
  readonly log: readonly string[]
  /** Ends all connections and prevents new ones until the network is connected again. */
  unplug(): void
  plugIn(): void
  /** Ends all connections, once. */
  cut(): void
  /** Resolves with the next event of this class that `matches`. */
  event<E extends object>(type: EventClass<E>, matches?: (event: E) => boolean): Promise<E>
}

export const SECRET = "correct horse battery staple"

export async function startNode(settings: Partial<ActorSystemSettings> = {}): Promise<TestNode> {
  const cable = new Cable()
  const log = recorded<string>()
  const system = await ActorSystem.start(
    {
      namespace: "test",
      listen: { host: "127.0.0.1", port: 0, secret: SECRET },
      reconnect: { fromMs: 5, toMs: 20 },
      ...settings,
    },
    nodePorts({ network: cable, logger: recording(log) }),
  )
  onTestFinished(() => system.stop())
  const deadLetters = recorded<DeadLetter>()
  system.events.subscribe(DeadLetter, (event) => deadLetters.push(event))
  for (const change of [MemberUp, MemberLeft, MemberRemoved, AssociationLost]) {
    system.events.subscribe<object>(change, notice)
  }
  return {
    system,
    authority: system.address.authority as string,
    deadLetters,
    log,
    unplug: () => cable.unplug(),
    plugIn: () => cable.plugIn(),
    cut: () => cable.cut(),
    event: (type, matches = () => true) =>
      new Promise((resolve) => {
        const subscription = system.events.subscribe(type, (event) => {
          if (!matches(event)) return
          subscription.cancel()
          resolve(event)
        })
      }),
  }
}

class Cable implements Network {
  readonly #connections = new Set<Connection>()
  #isUnplugged = false

  listen: Network["listen"] = (at, accept, options) =>
    nodeNetwork.listen(
      at,
      (connection, arrival) => this.#hold(connection) && accept(connection, arrival),
      options,
    )

  connect: Network["connect"] = async (to, options) => {
    const connection = await nodeNetwork.connect(to, options)
    this.#hold(connection)
    return connection
  }

  unplug(): void {
    this.#isUnplugged = true
    this.cut()
  }

  plugIn(): void {
    this.#isUnplugged = false
  }

  cut(): void {
    for (const connection of this.#connections) connection.destroy()
    this.#connections.clear()
  }

  #hold(connection: Connection): boolean {
    if (this.#isUnplugged) connection.destroy()
    else this.#connections.add(connection)
    return !this.#isUnplugged
  }
}

function recording(lines: string[]): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
    with: () => logger,
  }
  return logger
}

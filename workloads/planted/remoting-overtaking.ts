import type { Clock, Connection } from "../../src/index.js"
import type { Workload } from "../../src/sim/index.js"
import { RelayedConnection, relayed } from "../remoting/relayed-connection.js"
import { remotingWith } from "../remoting.js"
import type { Version } from "./version.js"

/**
 * A network adapter that gathers small writes for a moment, to send fewer packets. Large ones go out at once,
 * and so does whatever a connection begins with; the buggy version forgets that what it has gathered was
 * written before.
 */
export function overtaking(version: Version): Workload {
  return remotingWith(
    {
      network: (inner, { ports }) =>
        relayed(inner, (connection) => new GatheringConnection(connection, ports.clock, version)),
    },
    `remoting-overtaking-${version}`,
  )
}

class GatheringConnection extends RelayedConnection {
  readonly #clock: Clock
  readonly #version: Version
  #gathered: Uint8Array[] = []
  #writtenBytes = 0

  constructor(inner: Connection, clock: Clock, version: Version) {
    super(inner)
    this.#clock = clock
    this.#version = version
  }

  override write(bytes: Uint8Array): boolean {
    this.#writtenBytes += bytes.length
    if (bytes.length >= LARGE_BYTES || this.#writtenBytes < HURRY_BYTES) {
      if (this.#version === "mended") this.#send()
      return super.write(bytes)
    }
    if (this.#gathered.length === 0) this.#clock.setTimer(GATHER_MS, () => this.#send())
    this.#gathered.push(bytes)
    return true
  }

  override end(): void {
    this.#send()
    super.end()
  }

  #send(): void {
    if (this.#gathered.length === 0) return
    const gathered = this.#gathered
    this.#gathered = []
    super.write(Buffer.concat(gathered))
  }
}

const LARGE_BYTES = 1_400
const HURRY_BYTES = 4_096
const GATHER_MS = 1

import type { Connection, ConnectionHandler } from "../../src/index.js"
import type { Workload } from "../../src/sim/index.js"
import { RelayedConnection, relayed } from "../remoting/relayed-connection.js"
import { remotingWith } from "../remoting.js"
import type { Version } from "./version.js"

/**
 * A network adapter that waits for back-pressure to be over. `write` says false when more is buffered than
 * the connection likes: the bytes were taken all the same. The buggy version reads it as "not taken", and
 * writes them again.
 */
export function writtenTwice(version: Version): Workload {
  const network = (connection: Connection) => new PatientConnection(connection, version)
  return remotingWith({ network: (inner) => relayed(inner, network) }, `remoting-written-twice-${version}`)
}

class PatientConnection extends RelayedConnection implements ConnectionHandler {
  readonly #version: Version
  #refused: Uint8Array | undefined

  constructor(inner: Connection, version: Version) {
    super(inner)
    this.#version = version
  }

  override write(bytes: Uint8Array): boolean {
    const taken = super.write(bytes)
    if (!taken && this.#version === "buggy") this.#refused = bytes
    return taken
  }

  override drained(): void {
    const again = this.#refused
    this.#refused = undefined
    if (again === undefined || this.write(again)) super.drained()
  }
}

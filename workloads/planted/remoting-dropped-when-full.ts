import type { Connection } from "../../src/index.js"
import type { Workload } from "../../src/sim/index.js"
import { RelayedConnection, relayed } from "../remoting/relayed-connection.js"
import { remotingWith } from "../remoting.js"
import type { Version } from "./version.js"

/**
 * A network adapter that keeps a buffer small. Once there is too much in it, the mended version says so, as
 * the port asks for; the buggy one says that all is well and drops what is written, on a connection that goes
 * on as if nothing were missing.
 */
export function droppedWhenFull(version: Version): Workload {
  const wrap = (connection: Connection) => new SmallConnection(connection, version)
  return remotingWith({ network: (inner) => relayed(inner, wrap) }, `remoting-dropped-when-full-${version}`)
}

class SmallConnection extends RelayedConnection {
  readonly #version: Version

  constructor(inner: Connection, version: Version) {
    super(inner)
    this.#version = version
  }

  override write(bytes: Uint8Array): boolean {
    if (this.#version === "mended") return super.write(bytes)
    if (this.bufferedBytes === 0) super.write(bytes)
    return true
  }
}

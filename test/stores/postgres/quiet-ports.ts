import { consoleLogger } from "../../../src/index.js"
import type { Ports } from "../../../src/ports/ports.js"
import { nodePorts } from "../../../src/runtime/node-ports.js"

/** The ports of a process that logs only errors. */
export function quietPorts(): Ports {
  return nodePorts({ logger: consoleLogger({ level: "error" }) })
}

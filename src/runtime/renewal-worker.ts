/**
 * The program of the thread that renews leases: `RenewalProgram` on Node's ports. It ends when its store is
 * closed, which is also how the process ends it: some stores must not be ended in the middle of a request.
 */
import { parentPort, workerData } from "node:worker_threads"
import type { StoreProvider } from "../ports/store.js"
import type { RenewalReport, RenewalRequest } from "../registry/renewal-messages.js"
import { RenewalProgram } from "../registry/renewal-program.js"
import { consoleLogger } from "./console-logger.js"
import { nodePorts } from "./node-ports.js"
import type { RenewalWorkerOptions } from "./node-threads.js"
import { AtomicNumbers } from "./shared-numbers.js"

const port = parentPort as NonNullable<typeof parentPort>
const { module, options, namespace, closed } = workerData as RenewalWorkerOptions

const { provider } = (await import(module)) as { provider(options: unknown): StoreProvider }
const program = new RenewalProgram(provider(options), namespace, {
  ports: nodePorts({ logger: consoleLogger({ level: "error" }) }),
  threads: { shared: (memory) => new AtomicNumbers(memory as SharedArrayBuffer) },
  send: (report: RenewalReport) => {
    if (report.kind !== "closed") return port.postMessage(report)
    const flag = new Int32Array(closed)
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
    // Ends this thread. The port cannot be closed on Deno.
    process.exit(0)
  },
})
port.on("message", (request: RenewalRequest) => program.receive(request))

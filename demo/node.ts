/** One node of the demo, in a process of its own. It says what it hosts, and lives no longer than whoever started it. */
import { rmSync } from "node:fs"
import { dirname } from "node:path"
import { ActivationBecame, type ActivationState, ActorSystem, consoleLogger } from "../src/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"
import { BankAccount } from "./bank-account.js"
import { type ClusterOptions, clusterSettings } from "./cluster-settings.js"

export type NodeReport =
  | { readonly kind: "up"; readonly node: string }
  | {
      readonly kind: "became"
      readonly key: string
      readonly generation: number
      readonly state: ActivationState
    }

const options = JSON.parse(process.argv[2] as string) as ClusterOptions

// What is meant for the whole group of processes, as Ctrl-C is, is for whoever started this one to see to.
process.on("SIGINT", () => {})
process.on("SIGHUP", () => {})
process.on("SIGTERM", () => {})
process.once("disconnect", () => {
  // Whoever started this is gone, and cannot clean up any more.
  rmSync(dirname(options.file), { recursive: true, force: true })
  process.exit()
})

const system = await ActorSystem.start({
  ...clusterSettings(options),
  actors: [BankAccount],
  store: sqliteStore({ file: options.file }),
  logger: consoleLogger({ level: "error" }),
})
system.events.subscribe(ActivationBecame, ({ id, generation, state }) => {
  report({ kind: "became", key: id.key, generation, state })
})
process.once("message", async () => {
  await system.stop()
  process.exit()
})
report({ kind: "up", node: `${system.node}` })

function report(what: NodeReport): void {
  // Not when the channel is closed: then this process is about to end.
  if (process.connected) process.send?.(what)
}

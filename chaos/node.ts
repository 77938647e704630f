/** One node of the rig, in a process of its own. It says what happens to it, and lives no longer than whoever started it. */
import {
  ActivationBecame,
  type ActivationState,
  ActorSystem,
  consoleLogger,
  NodeFenced,
  NodeRejoined,
} from "../src/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"
import { clusterSettings } from "./cluster-settings.js"
import { Counter } from "./counter-actor.js"
import { Register } from "./register-actor.js"
import { type Arrival, SlowRoad } from "./slow-road.js"

export interface NodeOptions {
  readonly file: string
  readonly port: number
  readonly advertised: number
  readonly unfenced: boolean
}

export type NodeCommand =
  | { readonly kind: "stop" }
  /** Every save takes this much longer. */
  | { readonly kind: "hold"; readonly ms: number }

export type NodeReport =
  | { readonly kind: "up" }
  | { readonly kind: "fenced"; readonly because: string }
  | { readonly kind: "rejoined" }
  | { readonly kind: "save"; readonly became: Arrival }
  | {
      readonly kind: "became"
      readonly actor: string
      readonly generation: number
      readonly state: ActivationState
    }

const { file, port, advertised, unfenced } = JSON.parse(process.argv[2] as string) as NodeOptions

// What is meant for the whole group of processes, as Ctrl-C is, is for whoever started this one to see to.
process.on("SIGINT", () => {})
process.on("SIGHUP", () => {})
process.on("SIGTERM", () => {})
process.once("disconnect", () => process.exit())

const road = new SlowRoad(sqliteStore({ file }), unfenced, (became) => report({ kind: "save", became }))
const system = await ActorSystem.start({
  ...clusterSettings(port, advertised),
  actors: [Register, Counter],
  store: road.provider,
  logger: consoleLogger({ level: "error" }),
})
system.events.subscribe(NodeFenced, ({ because }) => report({ kind: "fenced", because }))
system.events.subscribe(NodeRejoined, () => report({ kind: "rejoined" }))
system.events.subscribe(ActivationBecame, ({ id, generation, state }) => {
  if (state === "valid" || state === "invalid") report({ kind: "became", actor: `${id}`, generation, state })
})
process.on("message", async (command: NodeCommand) => {
  if (command.kind === "hold") return road.hold(command.ms)
  await system.stop()
  process.exit()
})
report({ kind: "up" })

function report(what: NodeReport): void {
  if (process.connected) process.send?.(what)
}

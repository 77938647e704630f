/** One node of the rig, in a process of its own, which reports what happens to it. */
import {
  ActivationBecame,
  type ActivationState,
  ActorSystem,
  consoleLogger,
  NodeFenced,
  NodeRejoined,
} from "../src/index.js"
import { ParentProcess } from "../tools/cluster/parent-process.js"
import { type StoreOptions, storeOf } from "../tools/store-options.js"
import { Account } from "./account-actor.js"
import { Alarm } from "./alarm-actor.js"
import { clusterSettings, type Place } from "./cluster-settings.js"
import { Counter } from "./counter-actor.js"
import { Register } from "./register-actor.js"
import { type Arrival, SlowRoad } from "./slow-road.js"

export interface NodeOptions extends Place {
  readonly name: string
  readonly store: StoreOptions
  readonly unfenced: boolean
  readonly forgetful: boolean
}

export type NodeEvent =
  | { readonly kind: "fenced"; readonly because: string }
  | { readonly kind: "rejoined" }
  | { readonly kind: "save"; readonly became: Arrival }
  | {
      readonly kind: "became"
      readonly actor: string
      readonly generation: number
      readonly state: ActivationState
    }

const parent = new ParentProcess<NodeOptions, NodeEvent>()
const { name, store, ...planted } = parent.options
const road = new SlowRoad(storeOf(store), planted, (became) => parent.report({ kind: "save", became }))
const system = await ActorSystem.start({
  ...clusterSettings(name, parent.options),
  actors: [Register, Counter, Account, Alarm],
  store: road.provider,
  logger: consoleLogger({ level: "error" }),
})
system.events.subscribe(NodeFenced, ({ because }) => parent.report({ kind: "fenced", because }))
system.events.subscribe(NodeRejoined, () => parent.report({ kind: "rejoined" }))
system.events.subscribe(ActivationBecame, ({ id, generation, state }) => {
  // The others are started for what they have left to do, when nobody calls them any more.
  const isCalled = id.type === Register.type || id.type === Counter.type
  if (isCalled && (state === "valid" || state === "invalid")) {
    parent.report({ kind: "became", actor: `${id}`, generation, state })
  }
})

const commands = {
  /** Makes every save take this much longer. */
  hold: (ms: number) => road.hold(ms),
  stop: () => system.stop(),
}

export type NodeCommands = typeof commands

parent.serve(commands)

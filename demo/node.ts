/** One node of the demo, in a process of its own. It hosts accounts, and reports which ones. */
import { rmSync } from "node:fs"
import { ActivationBecame, ActorSystem } from "../src/index.js"
import { ParentProcess } from "../tools/cluster/parent-process.js"
import { BankAccount } from "./bank-account.js"
import { type ClusterOptions, clusterSettings } from "./cluster-settings.js"

/** The activation of an account at a generation has become valid or invalid. */
export interface NodeEvent {
  readonly account: string
  readonly generation: number
  readonly isValid: boolean
}

const parent = new ParentProcess<ClusterOptions, NodeEvent>(({ folder }) =>
  rmSync(folder, { recursive: true, force: true }),
)
const system = await ActorSystem.start({ ...clusterSettings(parent.options), actors: [BankAccount] })
system.events.subscribe(ActivationBecame, ({ id, generation, state }) => {
  const isValid = state === "valid"
  if (isValid || state === "invalid") parent.report({ account: id.key, generation, isValid })
})

const commands = { stop: () => system.stop() }

export type NodeCommands = typeof commands

parent.serve(commands)

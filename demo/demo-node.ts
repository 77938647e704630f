import { NodeProcess } from "../tools/cluster/node-process.js"
import type { NodeCommands, NodeEvent } from "./node.js"

/** A node of the demo, as the process that kills it sees it. */
export class DemoNode {
  readonly process: NodeProcess<NodeCommands, NodeEvent>
  /** The accounts that it hosts, and the generation of each. */
  readonly hosted = new Map<string, number>()
  kills = 0

  /** `died` is called when it ends by itself. */
  constructor(name: string, died: (problem: string) => void) {
    this.process = new NodeProcess(name, {
      program: new URL("./node.js", import.meta.url),
      died,
      reported: ({ account, generation, isValid }) => {
        if (isValid) this.hosted.set(account, generation)
        else if (this.hosted.get(account) === generation) this.hosted.delete(account)
      },
    })
  }
}

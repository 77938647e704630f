import { join } from "node:path"
import { onTestFinished } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { Program, type ProgramOptions } from "../../tools/cluster/program.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { Received } from "../../tools/received.js"
import { within } from "../../tools/within.js"
import type { NodeCommands, NodeEvent, NodeOptions } from "./programs/node.js"

export const built = await compiledOnce({
  name: "registry",
  config: "test/registry/tsconfig.json",
  sources: ["src", "test/registry", "tools"],
})

/** A node over a SQLite file, in a process that ends with the test. */
export class RegistryNode extends NodeProcess<NodeCommands, NodeEvent> {
  readonly events: Received<NodeEvent>

  static async start(options: NodeOptions): Promise<RegistryNode> {
    const node = new RegistryNode(new Received())
    onTestFinished(() => node.kill())
    await node.start(options)
    return node
  }

  private constructor(events: Received<NodeEvent>) {
    super("the node", {
      program: programFile("node"),
      reported: (event) => events.add(event),
      died: (problem) => events.end(new Error(problem)),
    })
    this.events = events
  }

  /** The first event of this kind, which may have been reported before. */
  event<Kind extends NodeEvent["kind"]>(
    kind: Kind,
    matches: (event: NodeEvent & { kind: Kind }) => boolean = () => true,
  ): Promise<NodeEvent & { kind: Kind }> {
    const isIt = (event: NodeEvent): event is NodeEvent & { kind: Kind } =>
      event.kind === kind && matches(event as NodeEvent & { kind: Kind })
    return this.events.first(`it reports ${kind}`, isIt)
  }

  /** Resolves once its view is of these nodes, all up. */
  async untilItSees(nodes: readonly string[]): Promise<void> {
    await within(15_000, `it sees ${nodes}`, this.call("sees", nodes))
  }
}

/** Starts a program of this folder, which is killed when the test is over. */
export function startProgram<Message>(name: string, options: ProgramOptions<Message>): Program<Message> {
  const program = new Program<Message>(programFile(name), options)
  onTestFinished(() => program.kill())
  return program
}

function programFile(name: string): string {
  return join(built, "test/registry/programs", `${name}.js`)
}

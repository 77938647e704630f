/**
 * Starts a node, halts it if told to, and says so. What becomes of the node when this process ends is for its
 * test to see.
 */
import { NodeProcess } from "../node-process.js"
import type { EchoCommands } from "./echo-node.js"

const [port, how] = process.argv.slice(2)
const node = new NodeProcess<EchoCommands>("node", { program: new URL("./echo-node.js", import.meta.url) })
await node.start({ port: Number(port) })
if (how === "halted") await node.halt()
process.stdout.write("started\n")
if (how === "exit") process.exit(3)
if (how === "throw") throw new Error("the starter fails")

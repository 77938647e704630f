/**
 * Starts a server of two processes, each of which connects to a port, and halts it. What becomes of the server when
 * this process is killed is for its test to see.
 */
import { ServerProcess, serverFolder } from "../server-process.js"

const [port] = process.argv.slice(2)
const folder = serverFolder()
const connects = `require("net").connect(${port}, "127.0.0.1").on("error", () => process.exit())`
const starts = `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(connects)}])`
const server = new ServerProcess("the server", folder)
await server.start([process.execPath, "-e", `${starts}; ${connects}`], async () => true)
process.once("message", async () => {
  await server.pause()
  process.send?.(folder)
})
process.send?.("started")

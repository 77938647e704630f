import { randomInt } from "node:crypto"
import { temporaryFolder } from "../tools/cluster/temporary-folder.js"
import { showNotRun } from "../tools/command-line.js"
import { interruption } from "../tools/interruption.js"
import { type DemoOptions, help, parseDemo } from "./command-line.js"
import { Demo } from "./demo.js"

const command = parseDemo(process.argv.slice(2), randomInt(2 ** 32))
if (command.kind === "run") await run(command)
else showNotRun("demo", help, command)

async function run(options: DemoOptions): Promise<void> {
  const { signal } = interruption()
  const folder = temporaryFolder()
  // The nodes put their temporary files there too, such as the sockets by which others see that they live.
  process.env["TMPDIR"] = folder.path
  process.once("exit", () => folder.remove())
  const demo = new Demo(options, folder.path, process.stdout)
  try {
    const { isRight, summary } = await demo.run(signal)
    process.stdout.write(summary)
    process.exitCode = isRight ? 0 : 1
  } finally {
    await demo.stop()
  }
}

import { randomInt } from "node:crypto"
import { temporaryFolder } from "../tools/cluster/temporary-folder.js"
import { showNotRun } from "../tools/command-line.js"
import { runOrExplain } from "../tools/engines/run-or-explain.js"
import { interruption } from "../tools/interruption.js"
import { type DemoOptions, help, parseDemo } from "./command-line.js"
import { Demo } from "./demo.js"
import { LiveScreen } from "./live-screen.js"
import { openStore } from "./open-store.js"

const command = parseDemo(process.argv.slice(2), randomInt(2 ** 32))
if (command.kind === "run") await runOrExplain("demo", () => run(command))
else showNotRun("demo", help, command)

async function run(options: DemoOptions): Promise<void> {
  const { signal, exitCode } = interruption()
  const folder = temporaryFolder()
  // The nodes put their temporary files there too, such as the sockets by which others see that they live.
  process.env["TMPDIR"] = folder.path
  process.once("exit", () => folder.remove())
  const screen = new LiveScreen(process.stdout, process.stdin)
  process.once("exit", () => screen.close())
  // Before the error is printed, which the terminal would lose with the picture.
  process.once("uncaughtExceptionMonitor", () => screen.close())
  const store = await openStore(options.store, folder.path)
  const { deathProof } = options
  const demo = new Demo(options, { folder: folder.path, store: store.options, deathProof }, screen)
  try {
    signal.throwIfAborted()
    const { isRight, summary } = await demo.run(signal)
    screen.print(summary)
    process.exitCode = isRight ? 0 : 1
  } catch (error) {
    // Ctrl-C also ends processes that have just been started.
    if (!signal.aborted) throw error
    process.exitCode = exitCode()
  } finally {
    await demo.stop()
    await store.close()
  }
}

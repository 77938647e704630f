import { join } from "node:path"
import { onTestFinished } from "vitest"
import { Program } from "../../tools/cluster/program.js"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"

const built = await compiledOnce({
  name: "demo",
  config: "demo/tsconfig.json",
  sources: ["src", "demo", "tools"],
})

/** Starts the demo, which is killed with the test. Its processes are marked with the folder. */
export function startDemo(...args: readonly string[]): {
  readonly demo: Program
  readonly directory: string
} {
  const folder = temporaryFolder()
  const demo = new Program(join(built, "demo/main.js"), {
    args,
    env: { TMPDIR: folder.path },
    ownGroup: true,
    channel: false,
  })
  onTestFinished(async () => {
    await demo.kill()
    folder.remove()
  })
  return { demo, directory: folder.path }
}

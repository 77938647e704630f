import { join } from "node:path"
import { onTestFinished } from "vitest"
import { Program } from "../../tools/cluster/program.js"
import { temporaryFolder } from "../../tools/cluster/temporary-folder.js"
import { compiledOnce } from "../../tools/compiled-once.js"

const built = await compiledOnce({
  name: "chaos",
  config: "chaos/tsconfig.json",
  sources: ["src", "chaos", "tools"],
})

/** Runs chaos to its end. */
export async function chaos(args: string): Promise<{ readonly ending: string; readonly output: string }> {
  const { program } = startChaos(args)
  return { ending: await program.ending, output: program.stdout || program.output }
}

/** Starts chaos, which is killed with the test. Its processes are marked with the folder. */
export function startChaos(args: string): { readonly program: Program; readonly directory: string } {
  const folder = temporaryFolder()
  const program = new Program(join(built, "chaos/main.js"), {
    args: args.split(" "),
    env: { TMPDIR: folder.path },
    channel: false,
  })
  onTestFinished(async () => {
    await program.kill()
    folder.remove()
  })
  return { program, directory: folder.path }
}

/** The number in a row of the report's table. */
export function numberOf(row: string, output: string): number {
  const line = output.split("\n").find((one) => one.startsWith(`${row} `)) ?? ""
  return Number(
    line
      .slice(row.length)
      .trim()
      .split(/[^\d,]/)[0]
      ?.replaceAll(",", ""),
  )
}

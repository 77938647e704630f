import { cpSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { chatSession } from "./chat-session.js"
import { command } from "./command.js"
import { type Consumer, compileTutorial } from "./consumer.js"
import type { Toolbox } from "./toolbox.js"

export interface Row {
  readonly name: string
  /** Returns what was seen; rejects if anything else was. */
  run(): Promise<string>
}

/** The rows of the table, in the order in which they are run: the first one compiles what others run. */
export function rows(consumer: Consumer, tools: Toolbox, scratch: string): readonly Row[] {
  const { folder, tarball, file } = consumer
  const { node24, bun, deno, esbuild, attw } = tools
  const node = process.execPath
  const chat = (...command: string[]) => chatSession([command, command, command], scratch)
  const denoRun = [deno, "run", "--allow-all", "--no-remote"]

  /** Runs the CommonJS program twice on one file. */
  const counter = async ([executable = "", ...args]: readonly string[]) => {
    const store = join(mkdtempSync(join(scratch, "counter-")), "counter.db")
    for (const expected of ["run 1\n", "run 2\n"]) {
      const printed = await command(executable, [...args, store], folder)
      if (printed !== expected) throw new Error(`printed ${printed} instead of ${expected}`)
    }
    return "require of every entry point; state survives the process"
  }
  const storeRules = async ([executable = "", ...args]: readonly string[]) =>
    /\d+ of \d+ rules hold/.exec(await command(executable, [...args, "store-rules.js"], folder))?.[0] ??
    "nothing"
  const bundle = (...args: string[]) =>
    command(esbuild, [...args, "--bundle", "--platform=node", "--log-level=error"], folder)
  /** Runs a bundle that cannot work. */
  const advice = async (path: string) => {
    const printed = await command(node, [path, join(scratch, "unused.db")], folder, { fails: true })
    const message = /StoreUnavailableError: (.*)/.exec(printed)?.[1]
    if (!message?.includes("--packages=external")) throw new Error(`does not say what to do: ${printed}`)
    return "refuses to create the store, and says what to do"
  }

  return [
    { name: "types, tsc", run: () => compileTutorial(consumer) },
    {
      name: "types, deno check",
      run: async () => {
        await command(deno, ["check", "--no-remote", "first.ts", "chat.ts"], folder)
        return "the tutorial's programs"
      },
    },
    {
      name: "types, attw",
      run: async () => {
        await command(attw, [tarball, "--profile", "esm-only"], scratch)
        return "no problems for programs that are ES modules"
      },
    },
    { name: `Node ${process.versions.node}`, run: () => chat(node, file("compiled/chat.js")) },
    { name: "Node 24", run: () => chat(node24, file("chat.ts")) },
    { name: "Bun", run: () => chat(bun, file("chat.ts")) },
    { name: "Deno", run: () => chat(...denoRun, file("chat.ts")) },
    {
      name: "Node, Bun and Deno together",
      run: () =>
        chatSession(
          [
            [node, file("compiled/chat.js")],
            [bun, file("chat.ts")],
            [...denoRun, file("chat.ts")],
          ],
          scratch,
        ),
    },
    { name: `CommonJS, Node ${process.versions.node}`, run: () => counter([node, "counter.cjs"]) },
    { name: "CommonJS, Node 24", run: () => counter([node24, "counter.cjs"]) },
    { name: "CommonJS, Bun", run: () => counter([bun, "counter.cjs"]) },
    { name: "CommonJS, Deno", run: () => counter([...denoRun, "counter.cjs"]) },
    { name: "rules of stores, Node 24", run: () => storeRules([node24]) },
    { name: "rules of stores, Bun", run: () => storeRules([bun]) },
    { name: "rules of stores, Deno", run: () => storeRules(denoRun) },
    {
      name: `esbuild, Node ${process.versions.node}`,
      run: async () => {
        await bundle(
          "chat.ts",
          "sqlite-worker=troupe/sqlite/worker",
          "sqlite-in-thread=troupe/sqlite/in-thread",
          "renewal-worker=troupe/renewal/worker",
          "--format=esm",
          "--minify",
          "--outdir=bundle",
        )
        return await chat(node, file("bundle/chat.js"))
      },
    },
    {
      name: "esbuild, Node 24",
      run: async () => {
        // A folder without node_modules: the bundle is all that it needs.
        const alone = mkdtempSync(join(scratch, "bundle-"))
        cpSync(file("bundle"), join(alone, "bundle"), { recursive: true })
        cpSync(file("package.json"), join(alone, "package.json"))
        return `${await chat(node24, join(alone, "bundle/chat.js"))}; without node_modules`
      },
    },
    {
      name: "esbuild, --packages=external",
      run: async () => {
        await bundle("chat.ts", "--format=esm", "--packages=external", "--outdir=external")
        return await chat(node, file("external/chat.js"))
      },
    },
    {
      name: "esbuild, without the thread",
      run: async () => {
        await bundle("chat.ts", "--format=esm", "--outdir=half")
        return await advice(file("half/chat.js"))
      },
    },
    {
      name: "esbuild, to CommonJS",
      run: async () => {
        await bundle("counter.cjs", "--format=cjs", "--outfile=bundle.cjs")
        return await advice(file("bundle.cjs"))
      },
    },
  ]
}

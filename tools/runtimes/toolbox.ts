import { readdirSync } from "node:fs"
import { join } from "node:path"
import { command } from "./command.js"

/** Exact versions, so that two runs give the same result. */
const PACKAGES = {
  node: `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}@24.21.0`,
  bun: "bun@1.4.4",
  deno: "deno@2.9.6",
  esbuild: "esbuild@0.28.2",
  attw: "@arethetypeswrong/cli@0.18.5",
} as const

/** The executables of runtimes and tools that the project does not depend on. */
export interface Toolbox {
  readonly node24: string
  readonly bun: string
  readonly deno: string
  readonly esbuild: string
  readonly attw: string
}

/** Installs the tools from the npm registry. Scripts of packages are not run. */
export async function installToolbox(folder: string): Promise<Toolbox> {
  await command(
    "npm",
    [...INSTALL, "--prefix", folder, "--ignore-scripts", ...Object.values(PACKAGES)],
    folder,
  )
  const modules = join(folder, "node_modules")
  const [nodePackage = ""] = PACKAGES.node.split("@")
  return {
    node24: join(modules, nodePackage, "bin/node"),
    bun: join(modules, "@oven", onlyOne(join(modules, "@oven")), "bin/bun"),
    deno: join(modules, "@deno", onlyOne(join(modules, "@deno")), "deno"),
    esbuild: join(modules, ".bin/esbuild"),
    attw: join(modules, ".bin/attw"),
  }
}

export const INSTALL = ["install", "--no-audit", "--no-fund", "--loglevel=error"]

/** Of the packages for all platforms, npm installs the one for this platform. */
function onlyOne(folder: string): string {
  const [name, ...others] = readdirSync(folder)
  if (name === undefined || others.length > 0) throw new Error(`${folder} does not contain one package`)
  return name
}

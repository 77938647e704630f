import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { command } from "./command.js"
import { programs } from "./programs.js"
import { INSTALL } from "./toolbox.js"

const root = resolve(import.meta.dirname, "../../..")

/** A new project that has installed the packed package, and contains the tutorial's programs. */
export interface Consumer {
  readonly folder: string
  readonly tarball: string
  readonly sizes: string
  file(name: string): string
}

export async function newConsumer(scratch: string): Promise<Consumer> {
  await command("npm", ["pack", "--loglevel=error", "--pack-destination", scratch], root)
  const tarball = join(scratch, readdirSync(scratch).find((name) => name.endsWith(".tgz")) ?? "")
  const folder = join(scratch, "consumer")
  const file = (name: string) => join(folder, name)
  mkdirSync(folder)
  writeFileSync(file("package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  await command("npm", [...INSTALL, tarball], folder)
  const without = bytesIn(file("node_modules"))
  await command("npm", [...INSTALL, `libsql@${versionOf("libsql")}`], folder)
  const sizes =
    `${megabytes(statSync(tarball).size)} packed, ${megabytes(bytesIn(file("node_modules/troupe")))} unpacked, ` +
    `${megabytes(bytesIn(file("node_modules")))} installed, ${megabytes(without)} without libsql`

  await command("npm", [...INSTALL, "--save-dev", `@types/node@${versionOf("@types/node")}`], folder)
  for (const name of ["first.ts", "chat.ts"]) copyFileSync(join(root, "examples/chat", name), file(name))
  for (const [name, text] of Object.entries(programs)) writeFileSync(file(name), text)
  writeFileSync(file("tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }))
  return { folder, tarball, sizes, file }
}

/** Compiles the tutorial's programs to JavaScript with the compiler of the project. */
export async function compileTutorial({ folder }: Consumer): Promise<string> {
  await command(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], folder)
  return `TypeScript ${versionOf("typescript")}, strict, with the library's declarations`
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

const COMPILER_OPTIONS = {
  target: "ES2022",
  module: "NodeNext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  outDir: "compiled",
}

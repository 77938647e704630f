import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

export const project = join(import.meta.dirname, "../..")

export interface Diagnostic {
  /** Relative to the folder of the tsconfig; empty if the error is not about a file. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** `TS2322`. */
  readonly code: string
  readonly message: string
}

/**
 * Compiles sources, by file name, as one program with the project's flags. An import of `troupe` resolves to
 * the sources of what the package exports.
 */
export async function compileTexts(
  texts: Readonly<Record<string, string>>,
  compilerOptions: Readonly<Record<string, unknown>> = {},
): Promise<Diagnostic[]> {
  using folder = scratchFolder()
  for (const [name, text] of Object.entries(texts)) folder.write(name, text)
  return await compile(folder, {
    extends: join(project, "tsconfig.json"),
    compilerOptions: { paths: exportedSources(), ...compilerOptions },
    include: [],
    files: Object.keys(texts),
  })
}

export function compile(folder: ScratchFolder, tsconfig: object): Promise<Diagnostic[]> {
  folder.write("tsconfig.json", JSON.stringify(tsconfig))
  return runCompiler(folder.path, ["-p", "tsconfig.json", "--noEmit"])
}

/** Writes the declarations of the package into a folder. */
export async function emitDeclarations(outDir: string): Promise<void> {
  const args = [
    "-p",
    "tsconfig.build.json",
    "--outDir",
    outDir,
    "--emitDeclarationOnly",
    "--sourceMap",
    "false",
  ]
  const diagnostics = await runCompiler(project, [...args, "--inlineSources", "false"])
  if (diagnostics.length > 0) throw new Error(`the package does not compile: ${JSON.stringify(diagnostics)}`)
}

/** Runs the compiler as a process, because the native one has no stable API. */
function runCompiler(cwd: string, options: readonly string[]): Promise<Diagnostic[]> {
  const tsc = join(project, "node_modules/typescript/bin/tsc")
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [tsc, ...options, "--pretty", "false"], { cwd }, (failure, stdout, stderr) => {
      const diagnostics = read(stdout)
      if (failure !== null && diagnostics.length === 0) {
        reject(new Error(`the compiler failed: ${stdout}${stderr}`, { cause: failure }))
      } else {
        resolve(diagnostics)
      }
    })
  })
}

export interface ScratchFolder extends Disposable {
  readonly path: string
  write(name: string, text: string): void
}

/**
 * Creates a folder that is removed on disposal. It is inside the project, so that its programs have the same
 * module type and find the same packages, and at the same depth as this file, so that relative imports of a
 * copied test resolve.
 */
export function scratchFolder(): ScratchFolder {
  const build = join(project, "build")
  mkdirSync(build, { recursive: true })
  const path = mkdtempSync(join(build, "scratch-"))
  return {
    path,
    write(name, text) {
      const file = join(path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** Returns the subpaths that package.json exports, each with its source file. */
function exportedSources(): Record<string, [string]> {
  const manifest: { exports: Record<string, string | { types: string }> } = JSON.parse(
    readFileSync(join(project, "package.json"), "utf8"),
  )
  return Object.fromEntries(
    Object.entries(manifest.exports).flatMap(([subpath, target]) => {
      if (typeof target === "string") return []
      const source = target.types.replace(/^\.\/dist\//, "src/").replace(/\.d\.ts$/, ".ts")
      return [[join("troupe", subpath).replace(/\\/g, "/"), [join(project, source)]]]
    }),
  )
}

/** Parses the compiler's output. Indented lines continue the message before them. */
function read(output: string): Diagnostic[] {
  const entries = output.split(/\r?\n(?=\S)/).filter((entry) => entry.trim() !== "")
  return entries.map((entry) => {
    const [, file = "", line = 0, column = 0, code = "", message = entry] =
      /^(?:(.+?)\((\d+),(\d+)\): )?error (TS\d+): (.*)$/s.exec(entry.trimEnd()) ?? []
    return { file, line: Number(line), column: Number(column), code, message }
  })
}

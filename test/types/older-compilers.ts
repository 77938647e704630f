import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"
import { project } from "./compiler.js"

const versions = ["5.4", "5.9"] as const

/**
 * Returns the compilers that the types are tested with beside the project's own, by version. npm installs them
 * into `build`, once, from a lock file of their own: as dependencies of the project they would compete with
 * its compiler for the command `tsc`.
 */
export async function olderCompilers(): Promise<ReadonlyMap<string, TypeScript>> {
  const folder = join(project, "build/compilers")
  const lock = readFileSync(join(import.meta.dirname, "compilers/package-lock.json"), "utf8")
  const installed = join(folder, "package-lock.json")
  const isInstalled = existsSync(join(folder, "node_modules/.package-lock.json"))
  if (!isInstalled || readFileSync(installed, "utf8") !== lock) {
    mkdirSync(folder, { recursive: true })
    cpSync(join(import.meta.dirname, "compilers"), folder, { recursive: true })
    await promisify(execFile)("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder })
  }
  const require = createRequire(installed)
  return new Map(versions.map((version) => [version, require(`typescript-${version}`) as TypeScript]))
}

/** The part of the compiler's interface that the tests use. */
export interface TypeScript {
  readonly version: string
  readonly sys: {
    fileExists(path: string): boolean
    readFile(path: string): string | undefined
    directoryExists(path: string): boolean
    getDirectories(path: string): string[]
  }
  readonly ScriptSnapshot: { fromString(text: string): object }
  convertCompilerOptionsFromJson(options: object, folder: string): { readonly options: object }
  getDefaultLibFilePath(options: object): string
  createLanguageService(host: object): LanguageService
  displayPartsToString(parts: readonly object[] | undefined): string
  flattenDiagnosticMessageText(text: Finding["messageText"], newLine: string): string
}

export interface LanguageService {
  getSyntacticDiagnostics(file: string): readonly Finding[]
  getSemanticDiagnostics(file: string): readonly Finding[]
  getSuggestionDiagnostics(file: string): readonly Finding[]
  getDefinitionAtPosition(file: string, at: number): readonly Place[] | undefined
  getQuickInfoAtPosition(file: string, at: number): QuickInfo | undefined
  getReferencesAtPosition(file: string, at: number): readonly Place[] | undefined
  findRenameLocations(
    file: string,
    at: number,
    strings: boolean,
    comments: boolean,
  ): readonly Place[] | undefined
}

interface Finding {
  readonly code: number
  readonly start: number
  readonly messageText: string | object
  readonly reportsDeprecated?: object
}

interface Place {
  readonly fileName: string
  readonly textSpan: { readonly start: number }
}

interface QuickInfo {
  readonly displayParts?: readonly object[]
  readonly documentation?: readonly object[]
  readonly tags?: readonly { readonly name: string; readonly text?: readonly object[] }[]
}

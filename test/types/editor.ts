import type { Diagnostic } from "./compiler.js"
import type { LanguageService, TypeScript } from "./older-compilers.js"

/** What an editor shows about the files of a program. Places are `file:line`. */
export interface Editor {
  /** Where what is at this place is declared. */
  definitions(at: Cursor): Promise<readonly string[]>
  /** What is shown when the mouse points at this place. */
  hover(at: Cursor): Promise<string>
  references(at: Cursor): Promise<readonly string[]>
  /** The places that a rename changes. */
  renamed(at: Cursor): Promise<readonly string[]>
  /** The places of the file that are marked as deprecated. */
  deprecated(file: string): Promise<readonly string[]>
}

export interface Cursor {
  readonly file: string
  readonly offset: number
}

/** The language service of a compiler that is written in JavaScript. */
export class ServiceEditor implements Editor {
  readonly #ts: TypeScript
  readonly #service: LanguageService
  readonly #texts: Readonly<Record<string, string>>
  readonly #folder: string

  /** `texts` are the files of the program, which need not exist in `folder`. */
  constructor(
    ts: TypeScript,
    folder: string,
    texts: Readonly<Record<string, string>>,
    compilerOptions: object,
  ) {
    this.#ts = ts
    this.#texts = texts
    this.#folder = folder
    const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, folder)
    const read = (path: string) => this.#textAt(path) ?? ts.sys.readFile(path)
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => Object.keys(texts).map((file) => this.#pathOf(file)),
      getScriptVersion: () => "1",
      getScriptSnapshot: (path: string) => {
        const text = read(path)
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
      },
      getCurrentDirectory: () => folder,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (path: string) => this.#textAt(path) !== undefined || ts.sys.fileExists(path),
      readFile: read,
      directoryExists: ts.sys.directoryExists,
      getDirectories: ts.sys.getDirectories,
    })
  }

  /** What the compiler reports about the files. */
  diagnostics(): Diagnostic[] {
    return Object.keys(this.#texts).flatMap((file) => {
      const path = this.#pathOf(file)
      const found = [
        ...this.#service.getSyntacticDiagnostics(path),
        ...this.#service.getSemanticDiagnostics(path),
      ]
      return found.map((finding) => ({
        file,
        line: this.#lineOf(file, finding.start),
        column: 0,
        code: `TS${finding.code}`,
        message: this.#ts.flattenDiagnosticMessageText(finding.messageText, "\n"),
      }))
    })
  }

  async definitions({ file, offset }: Cursor) {
    return this.#places(this.#service.getDefinitionAtPosition(this.#pathOf(file), offset))
  }

  async hover({ file, offset }: Cursor) {
    const info = this.#service.getQuickInfoAtPosition(this.#pathOf(file), offset)
    const tags = info?.tags?.map(({ name, text }) => `@${name} ${this.#ts.displayPartsToString(text)}`) ?? []
    const parts = [info?.displayParts, info?.documentation].map((one) => this.#ts.displayPartsToString(one))
    return [...parts, ...tags].join("\n")
  }

  async references({ file, offset }: Cursor) {
    return this.#places(this.#service.getReferencesAtPosition(this.#pathOf(file), offset))
  }

  async renamed({ file, offset }: Cursor) {
    return this.#places(this.#service.findRenameLocations(this.#pathOf(file), offset, false, false))
  }

  async deprecated(file: string) {
    const found = this.#service.getSuggestionDiagnostics(this.#pathOf(file))
    return found
      .filter(({ reportsDeprecated }) => reportsDeprecated !== undefined)
      .map(({ start }) => `${file}:${this.#lineOf(file, start)}`)
  }

  #places(
    found: readonly { readonly fileName: string; readonly textSpan: { readonly start: number } }[] = [],
  ): string[] {
    return found.map(({ fileName, textSpan }) => {
      const file = fileName.slice(this.#folder.length + 1)
      return `${file}:${this.#lineOf(file, textSpan.start)}`
    })
  }

  #lineOf(file: string, offset: number): number {
    return (this.#texts[file] ?? "").slice(0, offset).split("\n").length
  }

  #pathOf(file: string): string {
    return `${this.#folder}/${file}`
  }

  #textAt(path: string): string | undefined {
    return path.startsWith(`${this.#folder}/`) ? this.#texts[path.slice(this.#folder.length + 1)] : undefined
  }
}

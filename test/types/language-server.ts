import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { project } from "./compiler.js"
import type { Cursor, Editor } from "./editor.js"

/** The language server of the project's compiler, which speaks LSP on its standard streams. */
export class ServerEditor implements Editor, AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #folder: string
  readonly #texts: Readonly<Record<string, string>>
  readonly #unanswered = new Map<number, Answer>()
  #received: Buffer = Buffer.alloc(0)
  #asked = 0

  /** Opens the files of a program, which are in `folder` beside their `tsconfig.json`. */
  static async open(folder: string, texts: Readonly<Record<string, string>>): Promise<ServerEditor> {
    const editor = new ServerEditor(folder, texts)
    const hover = { contentFormat: ["markdown"] }
    await editor.#ask("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(folder).href,
      capabilities: { textDocument: { hover } },
    })
    editor.#send({ method: "initialized", params: {} })
    for (const [file, text] of Object.entries(texts)) {
      const textDocument = { uri: editor.#uriOf(file), languageId: "typescript", version: 1, text }
      editor.#send({ method: "textDocument/didOpen", params: { textDocument } })
    }
    return editor
  }

  private constructor(folder: string, texts: Readonly<Record<string, string>>) {
    this.#folder = folder
    this.#texts = texts
    const tsc = join(project, "node_modules/typescript/bin/tsc")
    this.#process = spawn(process.execPath, [tsc, "--lsp", "--stdio"], { cwd: folder })
    this.#process.stdout.on("data", (bytes: Buffer) => this.#take(bytes))
    this.#process.once("exit", (code) => {
      for (const { reject } of this.#unanswered.values()) reject(new Error(`the server ended with ${code}`))
    })
  }

  async [Symbol.asyncDispose]() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve))
    await this.#ask("shutdown")
    this.#process.stdin.end()
    await ended
  }

  async definitions(at: Cursor) {
    return this.#places((await this.#ask("textDocument/definition", this.#at(at))) as Location[])
  }

  async hover(at: Cursor) {
    const shown = (await this.#ask("textDocument/hover", this.#at(at))) as {
      contents: { value: string }
    } | null
    return shown?.contents.value ?? ""
  }

  async references(at: Cursor) {
    const params = { ...this.#at(at), context: { includeDeclaration: true } }
    return this.#places((await this.#ask("textDocument/references", params)) as Location[])
  }

  async renamed(at: Cursor) {
    const params = { ...this.#at(at), newName: "renamed" }
    const edit = (await this.#ask("textDocument/rename", params)) as { changes: Record<string, Ranged[]> }
    return this.#places(
      Object.entries(edit.changes).flatMap(([uri, edits]) => edits.map(({ range }) => ({ uri, range }))),
    )
  }

  async deprecated(file: string) {
    const uri = this.#uriOf(file)
    const params = { textDocument: { uri } }
    const report = (await this.#ask("textDocument/diagnostic", params)) as {
      items: (Ranged & { code: number })[]
    }
    return this.#places(
      report.items.filter(({ code }) => IS_DEPRECATED.has(code)).map(({ range }) => ({ uri, range })),
    )
  }

  #at({ file, offset }: Cursor) {
    const lines = (this.#texts[file] ?? "").slice(0, offset).split("\n")
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 }
    return { textDocument: { uri: this.#uriOf(file) }, position }
  }

  #places(found: readonly Location[]): string[] {
    const start = this.#uriOf("").length
    return found.map(({ uri, range }) => `${uri.slice(start)}:${range.start.line + 1}`)
  }

  #uriOf(file: string): string {
    return `${pathToFileURL(this.#folder).href}/${file}`
  }

  #ask(method: string, params?: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#asked += 1
      this.#unanswered.set(this.#asked, { resolve, reject })
      this.#send({ id: this.#asked, method, params })
    })
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message })
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n")
      const [, length] = /Content-Length: (\d+)/.exec(this.#received.toString("latin1", 0, end)) ?? []
      const from = end + 4
      if (end < 0 || this.#received.length < from + Number(length)) return
      const body = this.#received.toString("utf8", from, from + Number(length))
      this.#received = this.#received.subarray(from + Number(length))
      this.#heard(JSON.parse(body) as Message)
    }
  }

  #heard({ id, method, result, error }: Message): void {
    if (method !== undefined) {
      // The server asks for the user's configuration; it has none.
      if (id !== undefined) this.#send({ id, result: null })
      return
    }
    const answer = this.#unanswered.get(Number(id))
    this.#unanswered.delete(Number(id))
    if (error === undefined) answer?.resolve(result)
    else answer?.reject(new Error(JSON.stringify(error)))
  }
}

/** "X is deprecated", without and with a reason. */
const IS_DEPRECATED = new Set([6385, 6387])

interface Answer {
  resolve(result: unknown): void
  reject(error: Error): void
}

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly result?: unknown
  readonly error?: object
}

interface Ranged {
  readonly range: { readonly start: { readonly line: number } }
}

interface Location extends Ranged {
  readonly uri: string
}

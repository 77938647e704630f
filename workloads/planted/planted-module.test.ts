import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type CompiledWorkloads, compiledWorkloads } from "../../test/sim/compiled-workloads.js"
import type { Planting } from "./planting.js"

let compiled: CompiledWorkloads

beforeAll(async () => {
  compiled = await compiledWorkloads()
}, 60_000)

afterAll(() => compiled?.[Symbol.dispose]())

const planting: Planting = {
  name: "always-empty",
  about: "a mailbox is empty whatever is in it",
  breaks: "",
  workload: "",
  file: "src/actor/mailbox.ts",
  from: "return this.#next !== NONE;",
  to: "return false;",
}

describe("importing with a bug", () => {
  it("has it in what is imported, and leaves the file alone", async () => {
    const before = mailboxText()
    expect(before).toContain(planting.from)
    expect(await say(`await importPlanted(planting, mailbox)`)).toBe("false")
    expect(mailboxText()).toBe(before)
    expect(await say(`await mailbox()`)).toBe("true")
  })

  it("has it however the module is come by", async () => {
    expect(await say(`(await importPlanted(planting, () => import(index)), await mailbox())`)).toBe("false")
  })

  it("refuses a module that was loaded before", async () => {
    expect(await say(`(await mailbox(), await importPlanted(planting, mailbox))`)).toBe(
      "planting always-empty: src/actor/mailbox.ts is not loaded, or was loaded before it could be planted",
    )
  })

  it("refuses a module that nothing loads", async () => {
    expect(await say(`await importPlanted(planting, () => import("node:fs"))`)).toContain("is not loaded")
  })

  it("says whose fault it is when the module no longer loads", async () => {
    expect(await say(`await importPlanted({ ...planting, to: "return (;" }, mailbox)`)).toMatch(
      /^planting always-empty: with it in src\/actor\/mailbox.ts, nothing can be loaded: SyntaxError: /,
    )
  })
})

/**
 * What becomes of an expression in a process of its own: whether a mailbox with a message has one, or the
 * error's message.
 */
function say(expression: string): Promise<string> {
  const urlOf = (path: string) => JSON.stringify(pathToFileURL(join(compiled.folder, path)).href)
  const program = `
    import { importPlanted } from ${urlOf("workloads/planted/planted-module.js")}
    const planting = ${JSON.stringify(planting)}
    const index = ${urlOf("src/index.js")}
    const mailbox = () => import(${urlOf("src/actor/mailbox.js")})
    const hasMessages = ({ Mailbox }) => {
      const mailbox = new Mailbox(1)
      mailbox.push("hello")
      return mailbox.hasMessages
    }
    try {
      console.log(hasMessages(${expression}))
    } catch (error) {
      console.log(error.message)
    }`
  return new Promise((resolve, reject) => {
    const args = ["--input-type=module", "--eval", program]
    execFile(process.execPath, args, { timeout: 30_000 }, (failure, stdout, stderr) => {
      if (failure === null) resolve(stdout.trimEnd())
      else reject(new Error(stderr, { cause: failure }))
    })
  })
}

function mailboxText(): string {
  return readFileSync(join(compiled.folder, "src/actor/mailbox.js"), "utf8")
}

/**
 * The program of another process, for the cases with several: opens a store, does a job with it, and reports.
 */
import type { Entry, Revision } from "../../ports/store.js"
import { nodePorts } from "../../runtime/node-ports.js"
import type { ProviderOfModule } from "./harness.js"
import { increment } from "./race-rules.js"
import { drawing } from "./revision-rules.js"
import { absent, at, commit, put, text, write } from "./scene.js"

export type Job =
  /** Adds one to a number, this many times. */
  | { readonly kind: "increment"; readonly key: string; readonly times: number }
  /** Writes pairs of keys, the two of a pair in one commit, until it is killed. */
  | { readonly kind: "pairs"; readonly name: string }
  /** Reports every change. */
  | { readonly kind: "watch"; readonly prefix: string }
  /** Writes a key this many times. */
  | { readonly kind: "write"; readonly key: string; readonly times: number }
  /** Reads, writes, and compares and sets registers, until it is killed or has done this many operations. */
  | {
      readonly kind: "registers"
      readonly name: string
      readonly keys: readonly string[]
      readonly operations: number
      readonly seed: number
    }

export type RegisterCall =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly value: string }
  | { readonly kind: "compare-and-set"; readonly expected: string | null; readonly value: string }

export type RegisterAnswer =
  | { readonly kind: "value"; readonly value: string | null }
  | { readonly kind: "written" }
  | { readonly kind: "swapped" }

export type Report =
  | { readonly kind: "open" }
  | { readonly kind: "done"; readonly revisions: readonly Revision[] }
  | { readonly kind: "paired"; readonly number: number; readonly revision: Revision }
  | { readonly kind: "changed"; readonly lines: readonly string[] }
  | { readonly kind: "gap" }
  /** Times are nanoseconds of a clock that the processes of one machine share. */
  | {
      readonly kind: "called"
      readonly id: number
      readonly key: string
      readonly call: RegisterCall
      readonly time: string
    }
  | { readonly kind: "answered"; readonly id: number; readonly answer: RegisterAnswer; readonly time: string }
  /** The operation is known not to have happened. */
  | { readonly kind: "failed"; readonly id: number }
  | { readonly kind: "unknown"; readonly id: number }

const [, , module, argument, jobText] = process.argv as [string, string, string, string, string]
const { provider } = (await import(module)) as { provider: ProviderOfModule }
const store = await provider(argument).open("conformance", nodePorts())
const begin = await store.list("")
await report({ kind: "open" })
await work(JSON.parse(jobText))

async function work(job: Job): Promise<void> {
  switch (job.kind) {
    case "increment":
      return done(await times(job.times, () => increment(store, job.key)))
    case "write":
      return done(await times(job.times, (count) => write(store, put(job.key, `${count}`))))
    case "pairs":
      return writePairs(job.name)
    case "watch":
      return watch(job.prefix)
    case "registers":
      return useRegisters(job)
  }
}

async function times(count: number, each: (index: number) => Promise<Revision>): Promise<Revision[]> {
  const revisions: Revision[] = []
  for (let index = 0; index < count; index += 1) revisions.push(await each(index))
  return revisions
}

/** Keeps the store open until it is killed. */
async function done(revisions: readonly Revision[]): Promise<void> {
  await report({ kind: "done", revisions })
  setInterval(() => {}, 1_000)
}

async function writePairs(name: string): Promise<void> {
  const { epoch } = begin
  const pair = async (number: number) => {
    const writes = ["left", "right"].map((side) => put(`pairs/${name}/${number}/${side}`, "x".repeat(500)))
    const result = await store.commit({ epoch, conditions: [], writes: [...writes, put(`pairs/${name}`)] })
    if (result.kind === "committed") await report({ kind: "paired", number, revision: result.revision })
  }
  // Several at once, so that some are always in flight.
  for (let number = 0; ; number += 4) await Promise.all([0, 1, 2, 3].map((more) => pair(number + more)))
}

function watch(prefix: string): void {
  store.watch(prefix, begin, {
    changed: (changes) => {
      const lines = changes.map(({ key, value, revision }) => `${key}=${text(value)}@${revision}`)
      void report({ kind: "changed", lines })
    },
    gap: () => void report({ kind: "gap" }),
  })
  setInterval(() => {}, 1_000)
}

async function useRegisters({
  name,
  keys,
  operations,
  seed,
}: Extract<Job, { kind: "registers" }>): Promise<void> {
  const draw = drawing(seed)
  let id = 0
  const operation = async (
    key: string,
    call: RegisterCall,
    make: () => Promise<RegisterAnswer | undefined>,
  ) => {
    id += 1
    const own = id
    // The call has to be reported before it can take effect.
    await report({ kind: "called", id: own, key, call, time: now() })
    try {
      const answer = await make()
      const time = now()
      await report(
        answer === undefined ? { kind: "failed", id: own } : { kind: "answered", id: own, answer, time },
      )
    } catch (error) {
      const isKnown = (error as { commitment?: unknown }).commitment === "not-committed"
      await report({ kind: isKnown ? "failed" : "unknown", id: own })
    }
  }
  const seen = new Map<string, { readonly value: string | null; readonly revision: Revision }>()
  for (let count = 0; count < operations; count += 1) {
    const key = keys[draw(keys.length)] as string
    const value = `${name}.${count}`
    const known = seen.get(key)
    const which = draw(4)
    if (which === 0 || which === 3 || known === undefined) {
      await operation(key, { kind: "read" }, async () => {
        const entry = which === 3 ? await readByCommit(key) : (await store.get(key)).entry
        seen.set(key, { value: text(entry?.value) ?? null, revision: entry?.revision ?? 0 })
        return { kind: "value", value: text(entry?.value) ?? null }
      })
    } else if (which === 1) {
      await operation(key, { kind: "write", value }, async () => {
        const result = await commit(store, { writes: [put(key, value)] })
        return result.kind === "committed" ? { kind: "written" } : undefined
      })
    } else {
      await operation(key, { kind: "compare-and-set", expected: known.value, value }, async () => {
        const condition = known.revision === 0 ? absent(key) : at(key, known.revision)
        const result = await commit(store, { conditions: [condition], writes: [put(key, value)] })
        if (result.kind !== "committed") return undefined
        seen.set(key, { value, revision: result.revision })
        return { kind: "swapped" }
      })
    }
  }
  await done([])
}

async function readByCommit(key: string): Promise<Entry | undefined> {
  const result = await commit(store, { reads: [key] })
  if (result.kind !== "committed") throw new Error(`a commit without conditions was ${result.kind}`)
  return result.read[0]
}

function now(): string {
  return String(process.hrtime.bigint())
}

function report(what: Report): Promise<void> {
  return new Promise((resolve) => {
    // If nobody listens any longer, there is nothing left to do.
    process.send?.(what, (error: Error | null) => (error ? process.exit(1) : resolve()))
  })
}

process.on("disconnect", () => process.exit(1))

import { NodeProcess } from "../../tools/cluster/node-process.js"

/** The other process of a row, as the row sees it. */
export interface Child {
  /** Where it can be reached. */
  readonly greeting: string
  stop(): Promise<void>
}

/**
 * Starts a program of this directory, by its file's name without the ending, and waits until it is ready: it
 * serves `greeting` and `stop` as a `ParentProcess`. If it ends by itself the row ends too, by an error that
 * nobody handles.
 */
export async function startChild(program: string, options: string | null = null): Promise<Child> {
  const child = new NodeProcess<{ greeting(): string; stop(): unknown }>(program, {
    program: new URL(`./${program}.js`, import.meta.url),
    died: (problem) => {
      throw new Error(problem)
    },
  })
  await child.start(options)
  return {
    greeting: await child.call("greeting"),
    stop: async () => void (await child.stop(STOP_MS)),
  }
}

const STOP_MS = 10_000

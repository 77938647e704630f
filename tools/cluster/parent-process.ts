import type { Call, Commands, Report } from "./node-protocol.js"

/**
 * The node's half of a `NodeProcess`: the process that started this one, as the program of the node sees it.
 *
 * This process ends when that one does, however that one ends. Signals for the whole group of processes, such
 * as that of Ctrl-C, are left to the other process.
 */
export class ParentProcess<Options, Event> {
  /** What the node was started with. */
  readonly options: Options

  /**
   * `orphaned` is called before this process ends because the other one has: nobody else can clean up then.
   */
  constructor(orphaned: (options: Options) => void = () => {}) {
    if (process.send === undefined) throw new Error("this program is started by another one, as a node")
    this.options = JSON.parse(process.argv[2] as string) as Options
    for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.on(signal, () => {})
    process.once("disconnect", () => {
      orphaned(this.options)
      process.exit()
    })
  }

  report(event: Event): void {
    this.#send({ kind: "event", event })
  }

  /**
   * Says that the node is up, and from now on runs what the other process calls. After `stop` this process
   * ends.
   */
  serve(commands: Commands & { stop(): unknown }): void {
    process.on("message", async ({ id, name, args }: Call) => {
      const end = name === "stop" ? () => process.exit() : undefined
      try {
        const value = await (commands[name] as Commands[string])(...args)
        this.#send({ kind: "answer", id, value }, end)
      } catch (error) {
        this.#send({ kind: "failed", id, problem: `${(error as Error).stack}` }, end)
      }
    })
    this.#send({ kind: "up" })
  }

  #send(report: Report<Event>, sent: () => void = () => {}): void {
    // When the channel is closed this process is about to end.
    if (process.connected) process.send?.(report, undefined, undefined, sent)
  }
}

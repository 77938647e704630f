import { Fifo } from "../fifo.js"
import type { Request } from "./messages.js"

/** Requests that keep their order. All requests except commits count as reads. */
export class TaskLane {
  readonly commits = new Fifo<Task>()
  readonly reads = new Fifo<Task>()

  get hasWork(): boolean {
    return this.commits.length + this.reads.length > 0
  }

  add(task: Task): void {
    if (task.request.kind === "commit") this.commits.push(task)
    else this.reads.push(task)
  }

  /** Returns the next request that came before all pending commits. */
  get nextRead(): Task | undefined {
    const [read, commit] = [this.reads.first, this.commits.first]
    return read === undefined || (commit !== undefined && commit.place < read.place) ? undefined : read
  }

  /** Removes and returns the reads of keys that are next, up to the first request of another kind. */
  takeGets(atMost: number): readonly GetTask[] {
    const gets: GetTask[] = []
    for (let task = this.nextRead; task !== undefined && gets.length < atMost; task = this.nextRead) {
      if (!isGet(task)) break
      gets.push(task)
      this.reads.shift()
    }
    return gets
  }

  takeAll(): readonly Task[] {
    return [...this.commits.takeAll(), ...this.reads.takeAll()]
  }
}

export interface Task {
  readonly request: Request
  readonly sinceMs: number
  /** Its position in the order of all requests. */
  readonly place: number
}

interface GetTask extends Task {
  readonly request: Extract<Request, { readonly kind: "get" }>
}

function isGet(task: Task): task is GetTask {
  return task.request.kind === "get"
}

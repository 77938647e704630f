import type { Following, HeldLine, Lifeline } from "../ports/lifeline.js"
import type { SimProcess } from "./sim-process.js"

/**
 * The lifelines of one process. All machines count as one host here: any process that has a mark can follow
 * it.
 */
export class SimLifeline implements Lifeline {
  readonly #process: SimProcess

  constructor(proc: SimProcess) {
    this.#process = proc
  }

  hold(): Promise<HeldLine> {
    this.#process.enterCall("lifeline.hold")
    const { world, name } = this.#process
    const mark = `sim:${encodeURIComponent(name)}:${world.lines.size + 1}`
    const line = new SimLine()
    world.lines.set(mark, line)
    this.#process.onDeath(() => line.end())
    if (!this.#process.isAlive) line.end()
    return Promise.resolve({ mark, release: () => this.#release(line) })
  }

  follow(mark: string, dead: () => void): Following {
    this.#process.enterCall("lifeline.follow")
    const follower = new SimFollower(this.#process, dead)
    this.#process.world.lines.get(mark)?.add(follower)
    return follower
  }

  /** A release during a pause takes effect when the pause is over, if the process is still alive. */
  #release(line: SimLine): Promise<void> {
    this.#process.enterCall("lifeline.release")
    const { world, now } = this.#process
    if (now === world.now) line.end()
    else world.schedule(now, undefined, `${this.#process.name} lets go of a line`, () => line.end())
    return Promise.resolve()
  }
}

/** A lifeline, which is over when its holder has died or has released it. */
export class SimLine {
  readonly #followers = new Set<SimFollower>()
  #isOver = false

  add(follower: SimFollower): void {
    if (this.#isOver) follower.tellSoon()
    else this.#followers.add(follower)
  }

  end(): void {
    this.#isOver = true
    for (const follower of this.#followers) follower.tellSoon()
    this.#followers.clear()
  }
}

class SimFollower implements Following {
  readonly #process: SimProcess
  readonly #dead: () => void
  #isCancelled = false

  constructor(proc: SimProcess, dead: () => void) {
    this.#process = proc
    this.#dead = dead
  }

  cancel(): void {
    this.#isCancelled = true
  }

  tellSoon(): void {
    if (this.#isCancelled || !this.#process.isAlive) return
    const waitMicros = Math.ceil(this.#process.world.random.between(20, 5_000))
    this.#process.later(waitMicros, "a line is over", () => {
      if (!this.#isCancelled) this.#dead()
    })
  }
}

import type { NodeId } from "../address/node-id.js"
import type { Clock, Timer } from "../ports/clock.js"

/**
 * How many actors each node runs, as the nodes tell each other now and then.
 *
 * It is for strategies that look at it, so nodes that have none neither tell nor need it. What is told may be
 * late or lost: it only makes one placement worse than it could be.
 */
export class Loads {
  readonly #options: LoadsOptions
  readonly #known = new Map<string, number>()
  #timer: Timer | undefined
  #told: number | undefined
  #rounds = 0

  constructor(options: LoadsOptions) {
    this.#options = options
  }

  /** This node is a member from now on. */
  begin(): void {
    if (this.#options.isNeeded) this.#tellLater()
  }

  get isNeeded(): boolean {
    return this.#options.isNeeded
  }

  of(node: NodeId): number | undefined {
    return this.#known.get(node.toString())
  }

  /** What another node said of itself; from outside, so it may be anything. */
  heard(message: unknown): void {
    if (!Array.isArray(message) || message[0] !== LOAD) return
    const [, node, load] = message as readonly unknown[]
    if (typeof node === "string" && Number.isSafeInteger(load) && this.#options.isMember(node)) {
      this.#known.set(node, load as number)
    }
  }

  forget(node: NodeId): void {
    this.#known.delete(node.toString())
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #tellLater(): void {
    this.#timer = this.#options.clock.setTimer(TELL_EVERY_MS, () => {
      this.#tell()
      this.#tellLater()
    })
  }

  /** What has changed; and the same again now and then, for those who have come since. */
  #tell(): void {
    const load = this.#options.load()
    this.#rounds += 1
    if (load === this.#told && this.#rounds % REPEAT_EVERY !== 0) return
    this.#told = load
    this.#options.tellOthers([LOAD, this.#options.self().toString(), load])
  }
}

const LOAD = "load"
const TELL_EVERY_MS = 1_000
const REPEAT_EVERY = 5

interface LoadsOptions {
  readonly clock: Clock
  readonly isNeeded: boolean
  self(): NodeId
  load(): number
  isMember(node: string): boolean
  tellOthers(message: readonly unknown[]): void
}

import type { Commitment, StoreUnavailableError } from "../../errors/store-errors.js"

/**
 * The requests that have not been answered, in the order of their deadlines. All have the same time, so this
 * is also the order in which they were made. A request whose time is over is rejected; if it was sent, its
 * connection goes on with it, and the answer is dropped.
 */
export class OpenRequests {
  readonly #timeoutMs: number
  readonly #requests = new Set<AnyRequest>()
  readonly #timeout: (commitment: Commitment) => StoreUnavailableError
  #timer: NodeJS.Timeout | undefined
  #onEmpty: () => void = () => {}

  constructor(timeoutMs: number, timeout: (commitment: Commitment) => StoreUnavailableError) {
    this.#timeoutMs = timeoutMs
    this.#timeout = timeout
  }

  get size(): number {
    return this.#requests.size
  }

  /** Adds a request, from now on. */
  add<S, T>(subject: S, isCommit: boolean, promised: Promised<T>): OpenRequest<S, T> {
    const dueAt = performance.now() + this.#timeoutMs
    const request: OpenRequest<S, T> = { subject, isCommit, isSent: false, dueAt, ...promised }
    this.#requests.add(request as AnyRequest)
    this.#timer ??= setTimeout(this.#expire, this.#timeoutMs)
    return request
  }

  answer<T>(request: OpenRequest<unknown, T>, answer: T): void {
    if (this.#remove(request)) request.resolve(answer)
  }

  reject<T>(request: OpenRequest<unknown, T>, error: StoreUnavailableError): void {
    if (this.#remove(request)) request.reject(error)
  }

  isOpen<T>(request: OpenRequest<unknown, T>): boolean {
    return this.#requests.has(request as AnyRequest)
  }

  /** Resolves when all are answered. */
  async settled(): Promise<void> {
    if (this.#requests.size === 0) return
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
  }

  #remove<T>(request: OpenRequest<unknown, T>): boolean {
    if (!this.#requests.delete(request as AnyRequest)) return false
    if (this.#requests.size === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#onEmpty()
    }
    return true
  }

  readonly #expire = (): void => {
    this.#timer = undefined
    const now = performance.now()
    for (const request of this.#requests) {
      if (request.dueAt > now) {
        this.#timer = setTimeout(this.#expire, request.dueAt - now)
        return
      }
      this.reject(request, this.#timeout(request.isSent && request.isCommit ? "unknown" : "not-committed"))
    }
  }
}

/** A request, and how its promise is settled. */
export interface OpenRequest<S, T> extends Promised<T> {
  readonly subject: S
  readonly isCommit: boolean
  /** Whether it may be with the server. */
  isSent: boolean
  readonly dueAt: number
}

interface Promised<T> {
  readonly resolve: (answer: T) => void
  readonly reject: (error: StoreUnavailableError) => void
}

type AnyRequest = OpenRequest<unknown, never>

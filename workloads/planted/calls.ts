import type { Connection, Endpoint } from "../../src/index.js"
import type { Life, Stage } from "../../src/sim/index.js"
import { FrameReader, frame } from "./frames.js"

/** Where every server here listens. */
export const PORT = 4_000

/** Answers calls, each as soon as its answer is there. */
export async function serve<Request, Answer>(
  life: Life,
  answer: (request: Request) => Answer | Promise<Answer>,
): Promise<void> {
  await life.ports.network.listen({ host: life.host, port: PORT }, (connection) => {
    onFrames<Sent<Request>>(connection, async ({ id, body }) => {
      connection.write(frame({ id, body: await answer(body) }))
    })
  })
}

/** A call has no answer. Whether it was carried out is unknown, and it may yet be. */
export class Unanswered extends Error {
  constructor(to: string) {
    super(`no answer from ${to}`)
    this.name = "Unanswered"
  }
}

/**
 * The way from one process to one server. It connects when it has to, and again when the connection is gone.
 */
export class Remote<Request, Answer> {
  readonly #life: Life
  readonly #to: Endpoint
  #line: Promise<Line<Answer>> | undefined

  constructor(life: Life, host: string) {
    this.#life = life
    this.#to = { host, port: PORT }
  }

  /** Rejects with {@link Unanswered}. */
  async call(request: Request, timeoutMs: number): Promise<Answer> {
    try {
      this.#line ??= this.#connect(timeoutMs)
      const line = await this.#line
      return await line.call(request, timeoutMs)
    } catch {
      throw new Unanswered(this.#to.host)
    }
  }

  #connect(timeoutMs: number): Promise<Line<Answer>> {
    const forget = () => {
      this.#line = undefined
    }
    const connected = this.#life.ports.network.connect(this.#to, { timeoutMs })
    return connected.then(
      (connection) => new Line<Answer>(this.#life, connection, forget),
      (error) => {
        forget()
        throw error
      },
    )
  }
}

/** One connection and the calls that wait on it. They all fail when it does. */
class Line<Answer> {
  readonly #life: Life
  readonly #connection: Connection
  readonly #waiting = new Map<number, { answered(body: Answer): void; failed(error: Error): void }>()
  #lastId = 0

  constructor(life: Life, connection: Connection, forget: () => void) {
    this.#life = life
    this.#connection = connection
    onFrames<Sent<Answer>>(
      connection,
      ({ id, body }) => this.#waiting.get(id)?.answered(body),
      () => {
        forget()
        for (const { failed } of this.#waiting.values()) failed(new Error("the connection is gone"))
      },
    )
  }

  call(request: unknown, timeoutMs: number): Promise<Answer> {
    this.#lastId += 1
    const id = this.#lastId
    return new Promise<Answer>((resolve, reject) => {
      // A peer that does not answer may be gone without a word: the connection is not worth keeping.
      const timeout = this.#life.ports.clock.setTimer(timeoutMs, () => {
        this.#connection.destroy()
        failed(new Error("timed out"))
      })
      const end = () => {
        timeout.cancel()
        this.#waiting.delete(id)
      }
      const answered = (body: Answer) => {
        end()
        resolve(body)
      }
      const failed = (error: Error) => {
        end()
        reject(error)
      }
      this.#waiting.set(id, { answered, failed })
      this.#connection.write(frame({ id, body: request }))
    })
  }
}

interface Sent<Body> {
  readonly id: number
  readonly body: Body
}

function onFrames<T>(connection: Connection, take: (value: T) => void, closed = () => {}): void {
  const reader = new FrameReader()
  connection.attach({
    data: (chunk) => {
      for (const value of reader.take(chunk)) take(value as T)
    },
    drained: () => {},
    ended: () => connection.end(),
    closed,
  })
}

export function sleep(life: Life, ms: number): Promise<void> {
  return new Promise((resolve) => {
    life.ports.clock.setTimer(ms, resolve)
  })
}

/** The host of a machine that has just been started. */
export function hostOf(stage: Stage, machine: string): Promise<string> {
  return stage.on(machine, (life) => life.host)
}

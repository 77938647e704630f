import { once } from "node:events"
import { connect } from "node:net"
import { type Child, startChild } from "./child.js"
import { frameWriter, readFrames } from "./raw-frames.js"

/** One connection to a program that answers raw frames. */
export interface RawClient {
  ask(body: Uint8Array): Promise<Buffer>
  tell(body: Uint8Array): void
  stop(): Promise<void>
}

export async function startRawClient(program: string): Promise<RawClient> {
  const child: Child = await startChild(program)
  const socket = connect({ host: "127.0.0.1", port: Number(child.greeting), noDelay: true })
  await once(socket, "connect")
  const write = frameWriter(socket)
  const waiting = new Map<number, (answer: Buffer) => void>()
  let asked = 0
  readFrames(socket, (id, body) => {
    const resolve = waiting.get(id)
    waiting.delete(id)
    resolve?.(body)
  })
  return {
    ask: (body) =>
      new Promise((resolve) => {
        asked += 1
        waiting.set(asked, resolve)
        write(asked, body)
      }),
    tell: (body) => write(0, body),
    stop: () => {
      socket.destroy()
      return child.stop()
    },
  }
}

import { connect, createServer } from "node:net"
import { ActorSystem } from "../../../src/index.js"

const ENOUGH = 20

/**
 * Runs until a timer and a socket of this process have each been served `ENOUGH` times during the flood. If
 * they are starved it never ends, and the test times out.
 */
export async function flood(start: (system: ActorSystem, count: () => void) => void): Promise<void> {
  let timers = 0
  let echoes = 0
  let messages = 0
  const system = await ActorSystem.start({ namespace: "flood" })
  const server = createServer((socket) => socket.pipe(socket))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  start(system, () => {
    messages += 1
  })
  const timed = new Promise<void>((resolve) => {
    const interval = setInterval(() => {
      timers += 1
      if (timers < ENOUGH) return
      clearInterval(interval)
      resolve()
    }, 1)
  })
  const { port } = server.address() as { port: number }
  const socket = connect(port, "127.0.0.1")
  const echoed = new Promise<void>((resolve) => {
    socket.on("connect", () => socket.write("x"))
    socket.on("data", () => {
      echoes += 1
      if (echoes < ENOUGH) socket.write("x")
      else resolve()
    })
  })
  await Promise.all([timed, echoed])
  socket.destroy()
  server.close()
  await system.stop()
  process.stdout.write(JSON.stringify({ timers, echoes, messages }))
}

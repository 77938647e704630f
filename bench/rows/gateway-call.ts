import { once } from "node:events"
import { connect } from "node:net"
import { WebSocket } from "ws"
import { startChild } from "../remote/child.js"
import { BODY_BYTES } from "../remote/exchanging-frames.js"
import { askInLanes } from "../remote/lanes.js"
import type { Contender, ThroughputRow, Workload } from "../row.js"

const IN_FLIGHT = 64
const ARGS = `["${"a".repeat(BODY_BYTES)}"]`

/** Requests over connections that are kept, each with one in flight; without a client that would be measured too. */
const posting = (program: string): Contender => ({
  async setup(): Promise<Workload> {
    const child = await startChild(program)
    const request = [
      "POST /actors/Echo/one/echo HTTP/1.1",
      "host: localhost",
      "authorization: Bearer a",
      "content-type: application/json",
      `content-length: ${ARGS.length}`,
      `\r\n${ARGS}`,
    ].join("\r\n")
    const free = Array.from({ length: IN_FLIGHT }, () =>
      connect(Number(child.greeting), "127.0.0.1").setNoDelay(),
    )
    const sockets = [...free]
    await Promise.all(sockets.map((socket) => once(socket, "connect")))
    const ask = () =>
      new Promise<{ readonly length: number }>((resolve) => {
        const socket = free.pop()
        socket?.once("data", (bytes: Buffer) => {
          free.push(socket)
          resolve({ length: bytes.includes("200 OK") ? BODY_BYTES : 0 })
        })
        socket?.write(request)
      })
    const asker = { length: BODY_BYTES, ask }
    await asker.ask()
    return {
      run: (operations) => askInLanes(IN_FLIGHT, operations, asker),
      teardown: async () => {
        for (const socket of sockets) socket.destroy()
        await child.stop()
      },
    }
  },
})

/** Calls over one socket. Both servers answer in order. */
const calling = (program: string): Contender => ({
  async setup(): Promise<Workload> {
    const child = await startChild(program)
    const socket = new WebSocket(`ws://127.0.0.1:${child.greeting}/actors`)
    await once(socket, "open")
    const waiting: ((answer: { readonly length: number }) => void)[] = []
    let first = 0
    socket.send('{"kind":"hello","version":1,"token":"a"}')
    await once(socket, "message")
    socket.on("message", (data: Buffer) => {
      const resolve = waiting[first]
      first += 1
      if (first === 10_000) waiting.splice(0, first).length = first = 0
      resolve?.({ length: data.includes("aaaa") ? BODY_BYTES : 0 })
    })
    let id = 0
    const ask = () =>
      new Promise<{ readonly length: number }>((resolve) => {
        waiting.push(resolve)
        id += 1
        socket.send(`{"kind":"call","id":${id},"type":"Echo","key":"one","method":"echo","args":${ARGS}}`)
      })
    const asker = { length: BODY_BYTES, ask }
    await asker.ask()
    return {
      run: (operations) => askInLanes(IN_FLIGHT, operations, asker),
      teardown: async () => {
        socket.terminate()
        await child.stop()
      },
    }
  },
})

/** Calls over HTTP, against a server that sends back what it gets. */
export const gatewayHttp: ThroughputRow = {
  kind: "throughput",
  name: "gateway-http",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.6 },
  ours: posting("gateway-node"),
  limit: posting("http-echo"),
}

/** Calls over a socket, against a socket that sends back what it gets. */
export const gatewaySocket: ThroughputRow = {
  kind: "throughput",
  name: "gateway-socket",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.5 },
  ours: calling("gateway-node"),
  limit: calling("ws-echo"),
}

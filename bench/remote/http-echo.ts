import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

/** The least that answers a request with its body. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = Buffer.concat(chunks)
    response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
  })
})
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  new ParentProcess().serve({ greeting: () => `${port}`, stop: () => {} })
})

import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { connect } from "node:tls"
import { describe, expect, it, onTestFinished } from "vitest"
import { diallerOf } from "./dialler.js"

describe("who dials", () => {
  it("is the server name that it asks for, once all of its first message is there", async () => {
    const hello = await helloOf({ servername: "n1.troupe.test" })
    for (let length = 0; length < hello.length; length += 1) {
      expect(diallerOf(hello.subarray(0, length))).toBeUndefined()
    }
    expect(diallerOf(hello)).toBe("n1.troupe.test")
    expect(diallerOf(Buffer.concat([hello, Buffer.from("and more")]))).toBe("n1.troupe.test")
  })

  it("is a stranger, if it asks for none", async () => {
    expect(diallerOf(await helloOf({}))).toBe("stranger")
  })

  it("is a stranger, if it says something else", async () => {
    expect(diallerOf(Buffer.from("GET / HTTP/1.1\r\n\r\n"))).toBe("stranger")
    const hello = await helloOf({ servername: "n1.troupe.test" })
    // The length of its session id leads beyond its end.
    expect(diallerOf(Buffer.from(hello.fill(0xff, 5 + 4 + 2 + 32, 5 + 4 + 2 + 33)))).toBe("stranger")
  })
})

/** The first message of a TLS client. */
async function helloOf(options: { readonly servername?: string }): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const client = connect({ ...options, host: "127.0.0.1", port: (server.address() as AddressInfo).port })
  client.on("error", () => {})
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  const [socket] = (await once(server, "connection")) as [Socket]
  onTestFinished(() => void socket.destroy())
  let bytes = Buffer.alloc(0)
  for await (const chunk of socket) {
    bytes = Buffer.concat([bytes, chunk as Buffer])
    if (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt16BE(3)) break
  }
  return bytes
}

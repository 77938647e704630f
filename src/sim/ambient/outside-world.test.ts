import childProcess, { ChildProcess, exec, spawn, spawnSync } from "node:child_process"
import cluster from "node:cluster"
import crypto, * as named from "node:crypto"
import dgram, { createSocket } from "node:dgram"
import dns, { lookup } from "node:dns"
import { Resolver, resolve4 } from "node:dns/promises"
import fs, { createReadStream, readFileSync, writeSync } from "node:fs"
import { readFile } from "node:fs/promises"
import http, { get, request } from "node:http"
import http2 from "node:http2"
import https, { request as secureRequest } from "node:https"
import net, { connect, createServer } from "node:net"
import { monitorEventLoopDelay, PerformanceObserver as Observer } from "node:perf_hooks"
import tls, { connect as secureConnect } from "node:tls"
import { inspect, promisify } from "node:util"
import { MessageChannel as Channel, Worker } from "node:worker_threads"
import zlib, { gzip, gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { Forbidden, ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

let uninstall: () => void
beforeAll(() => {
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => uninstall())

const none = () => {}
const event = new Event("x")
const { subtle } = crypto.webcrypto
const socket = new net.Socket()
const server = new net.Server()
const datagrams = dgram.createSocket("udp4").unref()
afterAll(() => datagrams.close())

const forbidden: Record<string, () => unknown> = {
  "fs.readFile": () => fs.readFile("x", none),
  "fs.readFileSync": () => readFileSync("x"),
  "fs.existsSync": () => fs.existsSync("x"),
  "fs.exists": () => fs.exists("x", none),
  "fs.opendirSync": () => fs.opendirSync("x"),
  "fs.watch": () => fs.watch("x"),
  "fs.writeSync": () => fs.writeSync(9, "x"),
  "fs.createReadStream": () => createReadStream("x"),
  "fs.WriteStream": () => Reflect.construct(fs.WriteStream, ["x"]),
  "fs.promises.readFile": () => readFile("x"),
  "fs.promises.open": () => fs.promises.open("x"),
  "net.connect": () => connect(1),
  "net.createServer": () => createServer(),
  "net.Socket.connect": () => socket.connect(1),
  "net.Server.listen": () => server.listen(0),
  "tls.connect": () => secureConnect(1),
  "tls.createServer": () => tls.createServer(),
  "http.request": () => request("http://x"),
  "http.get": () => get("http://x"),
  "http.createServer": () => http.createServer(),
  "http.ClientRequest": () => Reflect.construct(http.ClientRequest, ["http://x"]),
  "https.request": () => secureRequest("https://x"),
  "https.get": () => https.get("https://x"),
  "https.createServer": () => https.createServer(),
  "http2.connect": () => http2.connect("http://x"),
  "http2.createServer": () => http2.createServer(),
  "dgram.createSocket": () => createSocket("udp4"),
  "dgram.Socket.send": () => datagrams.send("x", 1),
  "dns.lookup": () => lookup("x", none),
  "dns.resolveMx": () => dns.resolveMx("x", none),
  "dns.Resolver.resolve4": () => new dns.Resolver().resolve4("x", none),
  "dns.promises.resolve4": () => resolve4("x"),
  "dns.promises.Resolver.resolve4": () => new Resolver().resolve4("x"),
  "child_process.exec": () => exec("x"),
  "child_process.spawn": () => spawn("x"),
  "child_process.spawnSync": () => spawnSync("x"),
  "child_process.fork": () => childProcess.fork("x"),
  "child_process.ChildProcess.spawn": () =>
    Reflect.apply(Reflect.get(ChildProcess.prototype, "spawn"), {}, []),
  "cluster.fork": () => cluster.fork(),
  "worker_threads.Worker": () => new Worker("x"),
  MessageChannel: () => new Channel(),
  BroadcastChannel: () => new BroadcastChannel("x"),
  CompressionStream: () => Reflect.construct(Reflect.get(globalThis, "CompressionStream"), ["gzip"]),
  fetch: () => fetch("http://x"),
  "crypto.randomBytes": () => named.randomBytes(1, none),
  "crypto.randomInt": () => named.randomInt(5, none),
  "crypto.randomFill": () => crypto.randomFill(Buffer.alloc(1), none),
  "crypto.pbkdf2": () => crypto.pbkdf2("x", "x", 1, 1, "sha1", none),
  "crypto.scrypt": () => named.scrypt("x", "x", 1, none),
  "crypto.hkdf": () => named.hkdf("sha1", "x", "x", "x", 1, none),
  "crypto.generateKeyPair": () => crypto.generateKeyPair("ed25519", {}, none),
  "crypto.generateKeyPairSync": () => crypto.generateKeyPairSync("ed25519"),
  "crypto.ECDH.generateKeys": () => crypto.createECDH("secp256k1").generateKeys(),
  "crypto.sign": () => named.sign("sha256", Buffer.alloc(1), "x", none),
  "crypto.verify": () => crypto.verify("sha256", Buffer.alloc(1), "x", Buffer.alloc(1), none),
  "crypto.subtle.digest": () => subtle.digest("SHA-256", Buffer.alloc(1)),
  "crypto.subtle.generateKey": () => globalThis.crypto.subtle.generateKey("Ed25519", true, ["sign"]),
  "zlib.gzip": () => gzip("x", none),
  "zlib.brotliDecompress": () => zlib.brotliDecompress("x", none),
  "zlib.createGzip": () => zlib.createGzip(),
  "zlib.Inflate": () => Reflect.construct(Reflect.get(zlib, "Inflate"), []),
  "Blob.text": () => new Blob(["x"]).text(),
  "WebAssembly.compile": () => Reflect.get(globalThis, "WebAssembly").compile(Buffer.alloc(8)),
  "Event.timeStamp": () => event.timeStamp,
  "performance.timerify": () => performance.timerify(none),
  "performance.eventLoopUtilization": () => performance.eventLoopUtilization(),
  "performance.toJSON": () => performance.toJSON(),
  "performance.getEntriesByName": () => performance.getEntriesByName("x"),
  "perf_hooks.monitorEventLoopDelay": () => monitorEventLoopDelay(),
  "perf_hooks.PerformanceObserver": () => new Observer(none),
  "Atomics.wait": () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1),
}
if ("WebSocket" in globalThis)
  forbidden["WebSocket"] = () => Reflect.construct(globalThis.WebSocket, ["ws://x"])

test.each(Object.entries(forbidden))("%s throws an error that names the caller", (what, call) => {
  const error = thrownBy(() => new ManualWorld().within(call))
  expect(error).toBeInstanceOf(Forbidden)
  expect(error).toMatchObject({
    what,
    caller: expect.stringMatching(/ambient[\\/]outside-world\.test\.ts:\d+$/),
  })
})

test.each<[string, () => Promise<unknown>]>([
  ["exec", () => promisify(exec)("x")],
  ["fs.exists", () => promisify(fs.exists)("x")],
  ["randomBytes", () => promisify(named.randomBytes)(1)],
])("the promisified %s throws too", async (_name, call) => {
  const world = new ManualWorld()
  await expect(async () => world.within(call)).rejects.toBeInstanceOf(Forbidden)
})

test("outside worlds they are Node's own", async () => {
  expect(readFileSync(import.meta.filename, "utf8")).toContain("they are Node's own")
  expect(await readFile(import.meta.filename, "utf8")).toContain("they are Node's own")
  expect(await promisify(fs.exists)("/no/such/file")).toBe(false)
  expect(await promisify(exec)(`"${process.execPath}" -p 1`)).toMatchObject({ stdout: "1\n" })
  expect(zlib.gunzipSync(await promisify(gzip)("x")).toString()).toBe("x")
  expect(await promisify(named.randomBytes)(3)).toHaveLength(3)
  expect(await subtle.digest("SHA-1", new Uint8Array(0))).toHaveProperty("byteLength", 20)
  expect(await (await fetch("data:text/plain,x")).text()).toBe("x")
  expect(event.timeStamp).toBeGreaterThan(0)
  expect(() => Reflect.get(Event.prototype, "timeStamp")).toThrow(TypeError)
  expect(Observer).toBe(PerformanceObserver)
  const { port1, port2 } = new MessageChannel()
  expect(port1).toBeInstanceOf(MessagePort)
  expect(new Channel()).toBeInstanceOf(MessageChannel)
  expect(Channel).toBe(MessageChannel)
  expect(new zlib.Gzip()).toBeInstanceOf(zlib.Gzip)
  class Sub extends net.Socket {}
  expect(new Sub()).toBeInstanceOf(net.Socket)
  for (const port of [port1, port2]) port.close()
})

test("synchronous work in memory is allowed in a world", () => {
  new ManualWorld().within(() => {
    expect(inspect(event)).toContain("type: 'x'")
    expect(zlib.gunzipSync(gzipSync("x")).toString()).toBe("x")
    expect(net.isIP("::1")).toBe(6)
    expect(structuredClone({ a: 1 })).toEqual({ a: 1 })
    expect(writeSync(2, "")).toBe(0)
  })
})

function thrownBy(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

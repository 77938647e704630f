import childProcess from "node:child_process"
import cluster from "node:cluster"
import crypto, { webcrypto } from "node:crypto"
import dgram from "node:dgram"
import dns from "node:dns"
import fs from "node:fs"
import http from "node:http"
import http2 from "node:http2"
import https from "node:https"
import net from "node:net"
import perfHooks, { performance } from "node:perf_hooks"
import tls from "node:tls"
import workerThreads from "node:worker_threads"
import zlib from "node:zlib"
import { unlessAsynchronous, unlessInWorld, unlessOutput, unlessReadInWorld } from "./forbidden.js"
import type { Patches } from "./patches.js"

/**
 * Forbids everything that has effects outside the process, uses one of its threads, or measures real time
 * that cannot be replaced.
 */
export function forbidOutsideWorld(patches: Patches): void {
  patches.replace(fs, "writeSync", (real) => unlessOutput(real, "fs.writeSync"))
  for (const [name, place, members] of forbidden) {
    for (const member of membersOf(place, members)) {
      const what = name === "" ? member : `${name}.${member}`
      patches.replace(place, member, (real) => unlessInWorld(real, what))
    }
  }
  patches.replaceReading(Event.prototype, "timeStamp", (real) => unlessReadInWorld(real, "Event.timeStamp"))
  for (const member of ["sign", "verify", "diffieHellman", "encapsulate", "decapsulate"]) {
    patches.replace(crypto, member, (real) => unlessAsynchronous(real, `crypto.${member}`))
  }
}

type Members = string | RegExp

/** Some synchronous functions are left out: their results are the same in every world. */
const forbidden: readonly (readonly [name: string, place: object, members: Members])[] = [
  [
    "",
    globalThis,
    "fetch WebSocket EventSource MessageChannel BroadcastChannel CompressionStream DecompressionStream",
  ],
  ["fs", fs, /^([a-z](?!riteSync$)|(File)?(Read|Write)Stream$|Utf8Stream$)/],
  ["fs.promises", fs.promises, /^(?!constants$)/],
  ["net", net, "connect createConnection createServer"],
  ["net.Socket", net.Socket.prototype, "connect"],
  ["net.Server", net.Server.prototype, "listen"],
  ["tls", tls, "connect createServer"],
  ["http", http, "request get createServer ClientRequest"],
  ["https", https, "request get createServer"],
  ["http2", http2, "connect createServer createSecureServer performServerHandshake"],
  ["dgram", dgram, "createSocket"],
  ["dgram.Socket", dgram.Socket.prototype, "bind connect send"],
  ["dns", dns, /^(lookup|resolve|reverse)/],
  ["dns.Resolver", dns.Resolver.prototype, /^(resolve|reverse)/],
  ["dns.promises", dns.promises, /^(lookup|resolve|reverse)/],
  ["dns.promises.Resolver", dns.promises.Resolver.prototype, /^(resolve|reverse)/],
  ["child_process", childProcess, /^([a-z]|_fork)/],
  ["child_process.ChildProcess", childProcess.ChildProcess.prototype, "spawn"],
  ["cluster", cluster, "fork"],
  ["worker_threads", workerThreads, "Worker"],
  ["", workerThreads, "MessageChannel BroadcastChannel"],
  [
    "crypto",
    crypto,
    "pbkdf2 scrypt hkdf argon2 checkPrime randomFill generateKey generateKeyPair generatePrime",
  ],
  // Keys and primes that are not drawn from the world's random source.
  ["crypto", crypto, "generateKeySync generateKeyPairSync generatePrimeSync"],
  ["crypto.DiffieHellman", crypto.DiffieHellman.prototype, "generateKeys"],
  ["crypto.ECDH", crypto.ECDH.prototype, "generateKeys"],
  ["crypto.subtle", Object.getPrototypeOf(webcrypto.subtle), /^(?!constructor$)/],
  ["zlib", zlib, /^(?!crc32$|.*Sync$)/],
  ["Blob", Blob.prototype, /^(arrayBuffer|bytes|text|textStream|stream)$/],
  [
    "WebAssembly",
    Reflect.get(globalThis, "WebAssembly"),
    "compile instantiate compileStreaming instantiateStreaming",
  ],
  ["Atomics", Atomics, "wait waitAsync"],
  [
    "performance",
    Object.getPrototypeOf(performance),
    "timerify eventLoopUtilization toJSON getEntries getEntriesByName getEntriesByType",
  ],
  ["perf_hooks", perfHooks, "monitorEventLoopDelay eventLoopUtilization timerify PerformanceObserver"],
  ["perf_hooks", globalThis, "PerformanceObserver"],
]

function membersOf(place: object, members: Members): string[] {
  if (typeof members === "string") return members.split(" ")
  return Object.getOwnPropertyNames(place).filter((name) => members.test(name))
}

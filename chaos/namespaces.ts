import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { STORE } from "./chaos-store.js"
import type { Place } from "./cluster-settings.js"
import type { Cuts } from "./cuts.js"
import type { Wiring } from "./wiring.js"

/**
 * Each node, and the store, has a network namespace of its own, as on a host of its own. They are connected by a
 * router, which is the namespace of this process, where the clients are too; the router drops the packets that a cut
 * is to stop. Unlike a relay it knows nothing of connections: what is lost is retransmitted by the kernels, which
 * increase their pauses, and give up in the end.
 *
 * A namespace lasts as long as a process in it, which ends when its input does: nothing is left behind, whatever
 * becomes of this process. Rules of routing drop the packets, so that no packet filter is needed.
 */
export class Namespaces implements Wiring {
  readonly #holders: ReadonlyMap<string, ChildProcess>
  readonly #clients: readonly string[]
  readonly #cuts: Cuts
  readonly #dropped = new Set<string>()

  /** The process must be alone in its network namespace; see `in-namespace.ts`. */
  static async open(nodes: readonly string[], clients: readonly string[], cuts: Cuts): Promise<Namespaces> {
    const holders = new Map<string, ChildProcess>()
    ip("link set lo up")
    writeFileSync("/proc/sys/net/ipv4/ip_forward", "1")
    for (const [index, name] of [...nodes, STORE].entries()) {
      const holder = spawn("unshare", ["--net", "--", "sh", "-c", "echo entered; exec cat"], {
        stdio: ["pipe", "pipe", "inherit"],
      })
      holders.set(name, holder)
      await once(holder.stdout, "data")
      const [device, address] = [`troupe${index}`, addressOf(name)]
      ip(`link add ${device} type veth peer name eth0 netns ${holder.pid}`)
      ip(`address add ${ROUTER}/32 dev ${device}`)
      ip(`link set ${device} up`)
      const inside = enter(holder)
      ip("link set lo up", inside)
      ip(`address add ${address}/32 dev eth0`, inside)
      ip("link set eth0 up", inside)
      ip(`route add default via ${ROUTER} dev eth0 onlink`, inside)
      ip(`route add ${address}/32 dev ${device}`)
    }
    return new Namespaces(holders, clients, cuts)
  }

  private constructor(holders: ReadonlyMap<string, ChildProcess>, clients: readonly string[], cuts: Cuts) {
    this.#holders = holders
    this.#clients = clients
    this.#cuts = cuts
    cuts.onChange(() => this.#drop())
  }

  async placeOf(name: string): Promise<Place> {
    const client = this.#clients.indexOf(name)
    const port = FIRST_PORT + Math.max(client, 0)
    // Kernels of different hosts cannot prove to each other that a process has died.
    return { host: client < 0 ? addressOf(name) : ROUTER, port, advertised: port, hasDeathProof: false }
  }

  commandAt(name: string): readonly string[] {
    return enter(this.#holders.get(name) as ChildProcess)
  }

  /** Nothing on the way knows of connections. */
  reset(): void {}

  async close(): Promise<void> {
    await Promise.all(
      [...this.#holders.values()].map((holder) => {
        const ended = once(holder, "exit")
        holder.stdin?.end()
        return ended
      }),
    )
  }

  /** Has the rules of the router say what the cuts say. */
  #drop(): void {
    for (const from of this.#holders.keys()) {
      for (const to of this.#holders.keys()) {
        const rule = `from ${addressOf(from)} to ${addressOf(to)} blackhole`
        if (from === to || this.#cuts.isCut(from, to) === this.#dropped.has(rule)) continue
        if (this.#dropped.delete(rule)) ip(`rule delete ${rule}`)
        else {
          this.#dropped.add(rule)
          ip(`rule add ${rule}`)
        }
      }
    }
  }
}

/** Where the store is, for which the certificate is too. Addresses are those that are reserved for documents. */
export const STORE_ADDRESS = "192.0.2.3"
const ROUTER = "192.0.2.254"
const FIRST_PORT = 4_000

function addressOf(name: string): string {
  if (name === STORE) return STORE_ADDRESS
  const number = Number(name.slice(1))
  return `192.0.2.${number < 3 ? number : number + 1}`
}

function enter({ pid }: ChildProcess): readonly string[] {
  return ["nsenter", `--net=/proc/${pid}/ns/net`, "--"]
}

function ip(text: string, under: readonly string[] = []): void {
  const [file = "", ...args] = [...under, "ip", ...text.split(" ")]
  execFileSync(file, args, { stdio: ["ignore", "ignore", "pipe"] })
}

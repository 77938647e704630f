import { NetworkError } from "../errors/network-error.js"
import type {
  Connection,
  ConnectOptions,
  Endpoint,
  Listener,
  ListenOptions,
  Network,
} from "../ports/network.js"
import { openPair, type SimConnection } from "./sim-connection.js"
import type { SimProcess } from "./sim-process.js"

/** The network of one process: its listeners and its connections. */
export class SimNetwork implements Network {
  readonly #process: SimProcess
  readonly #listeners = new Map<number, (connection: Connection) => void>()
  readonly connections = new Set<SimConnection>()
  #nextPort = FIRST_PORT

  constructor(proc: SimProcess) {
    this.#process = proc
  }

  listen(
    at: Endpoint,
    accept: (connection: Connection) => void,
    options: ListenOptions = {},
  ): Promise<Listener> {
    this.#process.enterCall("network.listen")
    if (options.tls !== undefined) return refuseTls(`listen at ${at.host}:${at.port}`)
    const { world, machine } = this.#process
    const port = at.port === 0 ? this.#freePort() : at.port
    if (this.#listeners.has(port) || world.listenerAt(machine.host, port) !== undefined) {
      return Promise.reject(new NetworkError("AddressInUse", `${at.host}:${port} is in use`))
    }
    const acceptor = (connection: Connection) => accept(connection)
    this.#listeners.set(port, acceptor)
    return Promise.resolve({
      at: { host: machine.host, port },
      close: async () => {
        if (this.#listeners.get(port) === acceptor) this.#listeners.delete(port)
      },
    })
  }

  connect(to: Endpoint, options: ConnectOptions = {}): Promise<Connection> {
    this.#process.enterCall("network.connect")
    const { world } = this.#process
    const where = `${to.host}:${to.port}`
    if (options.tls !== undefined) return refuseTls(`connect to ${where}`)
    return new Promise((resolve, reject) => {
      let over = false
      const end = (outcome: () => void) => {
        if (over) return
        over = true
        timeout.cancel()
        options.signal?.removeEventListener("abort", cancel)
        outcome()
      }
      const fail = (code: "Refused" | "TimedOut" | "Cancelled") =>
        end(() => reject(new NetworkError(code, `connect to ${where}: ${code}`)))
      const cancel = () => fail("Cancelled")
      const timeout = this.#process.later(
        (options.timeoutMs ?? 10_000) * 1000,
        `connect ${where} timed out`,
        () => fail("TimedOut"),
      )
      if (options.signal?.aborted === true) return cancel()
      options.signal?.addEventListener("abort", cancel, { once: true })
      world.sendConnect(this.#process, to, (answer) => {
        if (answer === "refused") return fail("Refused")
        if (over) return answer.destroy()
        end(() => resolve(answer))
      })
    })
  }

  acceptorAt(port: number): ((connection: Connection) => void) | undefined {
    return this.#listeners.get(port)
  }

  /** Opens a connection from a client to this process, which accepts it. */
  openFrom(client: SimProcess, to: Endpoint): SimConnection {
    const from = { host: client.machine.host, port: client.network.#freePort() }
    const [near, far] = openPair(client, from, this.#process, to)
    client.network.connections.add(near)
    this.connections.add(far)
    // The client died while its request was in flight.
    if (!client.isAlive) near.ownerDied(false)
    return far
  }

  /** Closes the connections of a dead process. With the fault `half-open` its peers are not notified. */
  processDied(): void {
    this.#listeners.clear()
    const silent = this.#process.world.draw("half-open", 0.7)
    for (const connection of this.connections) connection.ownerDied(silent)
    this.connections.clear()
  }

  #freePort(): number {
    do {
      this.#nextPort = this.#nextPort === LAST_PORT ? FIRST_PORT : this.#nextPort + 1
    } while (this.#listeners.has(this.#nextPort))
    return this.#nextPort
  }
}

const FIRST_PORT = 40_000
const LAST_PORT = 65_535

/** The bytes of a simulation stay within one process, and a TLS handshake would take real time. */
function refuseTls(attempt: string): Promise<never> {
  const message = `${attempt}: the simulated network has no TLS; leave \`tls\` out in simulations`
  return Promise.reject(new NetworkError("NotPermitted", message))
}

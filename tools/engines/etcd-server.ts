import { rmSync } from "node:fs"
import { get as getPlain } from "node:http"
import { get as getSecure } from "node:https"
import { join } from "node:path"
import { freePort } from "../free-port.js"
import { command } from "./command.js"
import { EngineServer } from "./engine-server.js"
import { type EtcdPrograms, programsOf } from "./engines.js"
import { ServerProcess, serverFolder } from "./server-process.js"
import { serverTls, tlsFiles } from "./server-tls.js"

export interface EtcdOptions {
  /** Has the server accept TLS connections alone, with the certificate of `test/certificates`. Default false. */
  readonly tls?: boolean
  /** Has clients authenticate as `root`. Default false. */
  readonly authentication?: boolean
  /** Further flags, such as `["--quota-backend-bytes=16777216"]`. */
  readonly flags?: readonly string[]
}

/** A file with what a cluster had stored. `EtcdServer.restored` starts a server on it. */
export interface EtcdSnapshot {
  readonly file: string
  readonly options: EtcdOptions
  remove(): void
}

/** Where a member listens for the others. */
export interface EtcdPeer {
  readonly name: string
  readonly url: string
}

/** An etcd server of a test: on free ports of the loopback interface, in a temporary folder. */
export class EtcdServer extends EngineServer {
  readonly port: number
  readonly user = "root"
  readonly password = "troupe password"
  readonly #programs: EtcdPrograms
  readonly #options: EtcdOptions
  readonly #folder: string
  readonly #self: EtcdPeer
  readonly #peers: readonly EtcdPeer[]
  #isAuthenticating = false

  private constructor(
    programs: EtcdPrograms,
    options: EtcdOptions,
    {
      port,
      self,
      peers,
    }: { readonly port: number; readonly self: EtcdPeer; readonly peers: readonly EtcdPeer[] },
  ) {
    const folder = serverFolder()
    super(new ServerProcess(`etcd ${self.name}`, folder))
    this.port = port
    this.#programs = programs
    this.#options = options
    this.#self = self
    this.#peers = peers
    this.#folder = folder
  }

  /** Starts a cluster of one member. */
  static async start(options: EtcdOptions = {}): Promise<EtcdServer> {
    const server = await EtcdServer.#alone(options)
    await server.run()
    if (options.authentication === true) await server.authenticate()
    return server
  }

  /** Starts a cluster of one member with what a snapshot has, at the revision of the snapshot. */
  static async restored(snapshot: EtcdSnapshot): Promise<EtcdServer> {
    const server = await EtcdServer.#alone(snapshot.options)
    await server.#restore(snapshot)
    await server.run()
    if (snapshot.options.authentication === true) server.expectAuthentication()
    return server
  }

  /** Replaces all that this server has stored by a snapshot; the cluster stays the same in name. */
  async rewind(snapshot: EtcdSnapshot): Promise<void> {
    if (this.isRunning) await this.stop()
    rmSync(this.#data, { recursive: true })
    await this.#restore(snapshot)
    await this.run()
  }

  /** The members of a cluster, none of which runs yet. */
  static async members(count: number, options: EtcdOptions): Promise<readonly EtcdServer[]> {
    const programs = await programsOf("etcd")
    const peers: EtcdPeer[] = []
    for (let index = 1; index <= count; index += 1) {
      peers.push({ name: `m${index}`, url: `http://127.0.0.1:${await freePort()}` })
    }
    const ports = await Promise.all(peers.map(() => freePort()))
    return peers.map(
      (self, index) => new EtcdServer(programs, options, { port: ports[index] as number, self, peers }),
    )
  }

  static async #alone(options: EtcdOptions): Promise<EtcdServer> {
    const [server] = await EtcdServer.members(1, options)
    return server as EtcdServer
  }

  get name(): string {
    return this.#self.name
  }

  /** Where clients connect. */
  get url(): string {
    return this.urlAt(this.port)
  }

  /** The same for a client that reaches the server by another port, such as that of a proxy. */
  urlAt(port: number): string {
    return `${this.#options.tls === true ? "https" : "http"}://127.0.0.1:${port}`
  }

  /** What clients authenticate with. */
  get auth(): { readonly user: string; readonly password: string } {
    return { user: this.user, password: this.password }
  }

  /** The authority that has signed the server's certificate, if it has one. */
  get ca(): string | undefined {
    return this.#options.tls === true ? serverTls.ca : undefined
  }

  /** Stops the server as an administrator does. */
  async stop(): Promise<void> {
    await this.process.end("SIGTERM")
  }

  /** Stops the server if it runs, and starts it on the same ports with what it has stored. */
  async restart(): Promise<void> {
    if (this.isRunning) await this.stop()
    await this.run()
  }

  /** Starts the process; it is ready once the cluster has a leader. */
  run(): Promise<void> {
    const peer = this.#self.url
    const tls =
      this.#options.tls === true ? [`--cert-file=${tlsFiles.cert}`, `--key-file=${tlsFiles.key}`] : []
    const args = [
      [`--name=${this.name}`, `--data-dir=${this.#data}`],
      [`--listen-client-urls=${this.url}`, `--advertise-client-urls=${this.url}`],
      [`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
      [`--initial-cluster=${initialCluster(this.#peers)}`, "--initial-cluster-state=new"],
      tls,
      this.#options.flags ?? [],
    ].flat()
    return this.process.start([this.#programs.etcd, ...args], () => this.isHealthy())
  }

  /** Whether the server answers, and knows of a leader. */
  isHealthy(): Promise<boolean> {
    const request = this.#options.tls === true ? getSecure : getPlain
    return new Promise((resolve) => {
      const tls = this.#options.tls === true ? serverTls : {}
      const health = { ...tls, timeout: HEALTH_MS, agent: false }
      const asked = request(`${this.url}/health`, health, (answer) => {
        let text = ""
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part
        })
        answer.on("end", () => resolve(text.includes('"health":"true"')))
        answer.on("error", () => resolve(false))
      })
      asked.on("timeout", () => asked.destroy(new Error("no answer")))
      asked.on("error", () => resolve(false))
    })
  }

  /** Runs `etcdctl` against this server, as `root` once authentication is on, and resolves with what it prints. */
  async etcdctl(...args: readonly string[]): Promise<string> {
    const user = this.#isAuthenticating ? [`--user=${this.user}:${this.password}`] : []
    const { ca, cert, key } = tlsFiles
    const tls = this.#options.tls === true ? [`--cacert=${ca}`, `--cert=${cert}`, `--key=${key}`] : []
    return command([this.#programs.etcdctl, `--endpoints=${this.url}`, ...tls, ...user, ...args], {
      env: { ETCDCTL_API: "3" },
    })
  }

  /** Has clients of the cluster authenticate from now on. */
  async authenticate(): Promise<void> {
    await this.etcdctl("user", "add", this.user, `--new-user-password=${this.password}`)
    await this.etcdctl("role", "add", "root")
    await this.etcdctl("user", "grant-role", this.user, "root")
    await this.etcdctl("auth", "enable")
    this.expectAuthentication()
  }

  /** Tells this object, as it does those of the other members, that the cluster authenticates its clients. */
  expectAuthentication(): void {
    this.#isAuthenticating = true
  }

  /** The newest revision that this server has applied. */
  async revision(): Promise<number> {
    return (await this.#status()).header.revision
  }

  async isLeader(): Promise<boolean> {
    const { header, leader } = await this.#status()
    return header.member_id === leader
  }

  /** Discards what the revisions below this one (default the newest) had. */
  async compact(revision?: number): Promise<void> {
    await this.etcdctl("compact", "--physical=true", `${revision ?? (await this.revision())}`)
  }

  /** Saves all that the cluster has stored. */
  async snapshot(): Promise<EtcdSnapshot> {
    const folder = serverFolder()
    const file = join(folder, "snapshot.db")
    await this.etcdctl("snapshot", "save", file)
    const remove = () => rmSync(folder, { recursive: true, force: true })
    return { file, options: this.#options, remove }
  }

  get #data(): string {
    return join(this.#folder, "data")
  }

  async #status(): Promise<EndpointStatus> {
    const [row] = JSON.parse(
      // Ids of members have 64 bits, which numbers of JavaScript have not.
      (await this.etcdctl("endpoint", "status", "--write-out=json")).replaceAll(
        /"(member_id|leader)":(\d+)/g,
        '"$1":"$2"',
      ),
    ) as readonly { readonly Status: EndpointStatus }[]
    if (row === undefined) throw new Error(`etcd ${this.name} has no status`)
    return row.Status
  }

  async #restore({ file }: EtcdSnapshot): Promise<void> {
    const args = [
      ["snapshot", "restore", file, `--data-dir=${this.#data}`, `--name=${this.name}`],
      [`--initial-cluster=${initialCluster(this.#peers)}`, `--initial-advertise-peer-urls=${this.#self.url}`],
    ].flat()
    await command([this.#programs.etcdutl, ...args], { env: { ETCDCTL_API: "3" } })
  }
}

interface EndpointStatus {
  readonly header: { readonly member_id: string; readonly revision: number }
  readonly leader: string
}

const HEALTH_MS = 1_000

function initialCluster(peers: readonly EtcdPeer[]): string {
  return peers.map(({ name, url }) => `${name}=${url}`).join(",")
}

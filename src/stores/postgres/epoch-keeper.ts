import type { Logger } from "../../ports/logger.js"
import type { Ports } from "../../ports/ports.js"
import { firstRevision } from "../epoch-revision.js"
import type { Parameter, Row } from "./driver.js"
import { identification } from "./epoch-function.js"
import { EpochMemory } from "./epoch-memory.js"
import { ForeignTransactions } from "./foreign-transactions.js"
import { migration, SCHEMA_VERSION } from "./migration.js"
import type { StoreSettings } from "./options.js"
import { isContention, refusal, unavailable } from "./problem.js"
import { headOf } from "./rows.js"
import { Session } from "./session.js"
import type { StoreSchema } from "./store-schema.js"

/**
 * Knows which store this process uses, and in which epoch it is. A server that turns out to have another
 * history than the record of the epoch says begins a new one; whoever notices first does so, and the others
 * find it.
 *
 * - A restored dump, a promoted replica and a recovered backup are recognised by the server, in every request
 *   (see `epoch-function.ts`), and by the system identifier, when a connection is opened.
 * - A copy of the server's files that was put back as it is can be recognised only by a process that has seen
 *   more of the history. How far the server's log had come goes with every request, and a new connection
 *   looks for the last commit of this process, since the log may have come as far again.
 * - What nobody remembers, nobody recognises. `renewEpoch` is for that.
 *
 * A store at another place, such as a dump that was restored on another server, gets another identity: it may
 * exist beside the first one. A process that finds itself connected to another store refuses it.
 */
export class EpochKeeper {
  readonly identity: string
  readonly memory: EpochMemory
  readonly foreign: ForeignTransactions
  readonly #schema: StoreSchema
  readonly #settings: StoreSettings
  readonly #ports: Pick<Ports, "clock" | "random">
  readonly #logger: Logger

  /** Creates the store if it is missing, or adds what it lacks. */
  static async begin(
    session: Session,
    schema: StoreSchema,
    settings: StoreSettings,
    ports: Ports,
  ): Promise<EpochKeeper> {
    if (!session.isCurrent) await migrate(session, schema, ports)
    const { epoch, isValid } = await identify(session, schema)
    if (!isValid) await beginEpoch(session, schema, settings, ports, epoch, 0)
    const found = await identify(session, schema)
    return new EpochKeeper(found, schema, settings, ports)
  }

  private constructor(found: Identified, schema: StoreSchema, settings: StoreSettings, ports: Ports) {
    this.identity = found.identity
    this.memory = new EpochMemory(found.epoch)
    this.foreign = new ForeignTransactions(schema)
    this.#schema = schema
    this.#settings = settings
    this.#ports = ports
    this.#logger = ports.logger
  }

  /** Opens another connection to the same store. */
  async openSession(): Promise<Session> {
    const session = await Session.open(this.#schema, this.#settings)
    this.foreign.forget()
    try {
      if (!session.hasStore) throw this.#moved(session)
      await this.#check(session)
      // A backup of an earlier version may have been restored.
      if (!session.isCurrent) await migrate(session, this.#schema, this.#ports)
      return session
    } catch (error) {
      session.cut()
      throw unavailable(error, session.place, false)
    }
  }

  /**
   * Calls a function of the store, and returns its rows. It calls again if a new epoch had to begin first, or
   * if the server undid the call because of others.
   */
  async ask(
    session: Session,
    epoch: string,
    name: string,
    values: readonly Parameter[],
  ): Promise<readonly Row[]> {
    const marks = values.map((_, index) => `$${index + 3}`).join(", ")
    const text = `SELECT * FROM ${this.#schema.name}.${name}($1, $2, ${marks})`
    for (let attempt = 1; ; attempt += 1) {
      try {
        const rows = await session.run(text, [epoch, this.memory.lsnOf(epoch), ...values])
        const head = headOf(rows)
        if (head.state === "valid") {
          this.memory.note(head)
          return rows
        }
        if (attempt > MOST_ATTEMPTS) throw this.#unsettled()
        await this.#renew(session, head.epoch, head.state)
      } catch (error) {
        if (!isContention(error) || attempt > MOST_ATTEMPTS) throw error
      }
    }
  }

  /** Begins a new epoch, whatever the server has. Returns it. */
  async renew(session: Session): Promise<string> {
    const { epoch } = await identify(session, this.#schema)
    await this.#renew(session, epoch, "announced")
    return (await identify(session, this.#schema)).epoch
  }

  async #renew(session: Session, old: string, reason: string): Promise<void> {
    await this.#begin(session, old, reason)
    await this.#check(session)
  }

  async #check(session: Session): Promise<void> {
    const { identity, epoch, isValid } = await identify(session, this.#schema, this.memory)
    if (identity !== this.identity) throw this.#moved(session)
    if (isValid) return
    await this.#begin(session, epoch, "noticed by a new connection")
    if ((await identify(session, this.#schema)).identity !== this.identity) throw this.#moved(session)
  }

  async #begin(session: Session, old: string, reason: string): Promise<void> {
    await beginEpoch(session, this.#schema, this.#settings, this.#ports, old, this.memory.highest)
    this.#logger.log("warn", "a new epoch of the store has begun, because its history may have been cut", {
      store: session.place,
      reason,
    })
  }

  #moved({ place }: Session): Error {
    const advice = "restart the process if that is intended"
    return refusal("moved", `the store at ${place} is another one than this process has opened; ${advice}`)
  }

  #unsettled(): Error {
    const advice = "check that all connections lead to the same server"
    return refusal(
      "other",
      `the epoch of the store at ${this.#settings.place} changes all the time; ${advice}`,
    )
  }
}

const MOST_ATTEMPTS = 3

interface Identified {
  readonly identity: string
  readonly epoch: string
  /** Whether the record of the epoch applies to this server. */
  readonly isValid: boolean
  /** The last revision that may have been assigned here. */
  readonly last: number
}

async function migrate(
  session: Session,
  schema: StoreSchema,
  ports: Pick<Ports, "clock" | "random">,
): Promise<void> {
  const first = firstRevision(0, ports.clock.wallMs())
  await session.run(migration(schema, { epoch: fresh(ports, 8), identity: fresh(ports, 16), first }))
}

async function identify(session: Session, schema: StoreSchema, memory?: EpochMemory): Promise<Identified> {
  const { key = null, revision = null } = memory?.witness ?? {}
  const [row] = await session.run(identification(schema), [memory?.epoch ?? null, key, revision])
  if (row === undefined) {
    const advice = "restore a whole backup, or drop the schema to begin with an empty store"
    throw refusal("damaged", `the store at ${session.place} has no record of its epoch; ${advice}`)
  }
  const [version, identity, epoch, isValid, last] = row
  if (Number(version) > SCHEMA_VERSION) {
    const what = `has tables of version ${version}, and this version of Troupe knows ${SCHEMA_VERSION}`
    throw refusal("unsuitable", `the store at ${session.place} ${what}; use a later version of Troupe`)
  }
  return { identity: String(identity), epoch: String(epoch), isValid: isValid === true, last: Number(last) }
}

/** Begins a new epoch, unless another process has done so since the old one was read. */
async function beginEpoch(
  session: Session,
  schema: StoreSchema,
  { timeoutMs }: StoreSettings,
  ports: Pick<Ports, "clock" | "random">,
  old: string,
  highest: number,
): Promise<void> {
  for (let began: unknown; (began ?? null) === null; ) {
    const { last } = await identify(session, schema)
    const first = firstRevision(Math.max(last, highest), ports.clock.wallMs())
    const lockMs = Math.ceil(timeoutMs * 0.8)
    const values = [old, fresh(ports, 8), fresh(ports, 16), first, lockMs]
    const [row] = await session.run(`SELECT ${schema.name}.begin_epoch_1($1, $2, $3, $4, $5)`, values)
    began = row?.[0]
  }
}

function fresh({ random }: Pick<Ports, "random">, bytes: number): string {
  return Buffer.from(random.bytes(bytes)).toString("hex")
}

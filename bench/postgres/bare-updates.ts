import { type Client, loadDriver, type Parameter, type Statement } from "../../src/stores/postgres/driver.js"
import { latencyOf } from "../quantile.js"
import type { Contender, Workload } from "../row.js"
import { times } from "../sqlite/commit-lanes.js"
import { inLanes } from "../sqlite/scratch-registry.js"
import { MOST_CONNECTIONS, scratchDatabase } from "./scratch-database.js"

const VALUE_BYTES = 100

/**
 * A conditional `UPDATE` of one row for each operation, given to the driver, which is what an application would
 * do by itself. Each in flight has a connection, as far as a server has that many.
 */
export function bareUpdates(inFlight: number): Contender {
  return {
    async setup(): Promise<Workload> {
      const { url, release } = await scratchDatabase()
      const connect = await loadDriver()
      const clients = await Promise.all(
        Array.from({ length: Math.min(inFlight, MOST_CONNECTIONS) }, async () => {
          const client = new connect({ connectionString: url })
          await client.connect()
          return client
        }),
      )
      const first = clients[0] as Client
      await first.query(statement(CREATE, []))
      await first.query(statement(INSERT, [inFlight]))
      const pool = new Pool(clients)
      const revisions = new Array<number>(inFlight).fill(0)
      const value = Buffer.alloc(VALUE_BYTES, 7)
      const update = async (lane: number) => {
        const client = await pool.take()
        const revision = revisions[lane] as number
        const values = [revision + 1, value, `key-${lane}`, revision]
        const answer = await client.query(statement(UPDATE, values))
        pool.give(client)
        if ((answer as { rowCount?: number }).rowCount !== 1)
          throw new Error("an update found another revision")
        revisions[lane] = revision + 1
      }
      return {
        fewestOperations: inFlight * 4,
        run: async (operations) => {
          const tookMs = await inLanes(inFlight, times(operations), update)
          return latencyOf(tookMs.map((ms) => ms * 1_000))
        },
        teardown: async () => {
          await Promise.all(clients.map((client) => client.end()))
          await release()
        },
      }
    },
  }
}

const CREATE = "CREATE TABLE bare (key text PRIMARY KEY, revision bigint, value bytea) WITH (fillfactor = 70)"
const INSERT = "INSERT INTO bare SELECT 'key-' || n, 0, '' FROM generate_series(0, $1::int) n"
const UPDATE = "UPDATE bare SET revision = $1, value = $2 WHERE key = $3 AND revision = $4"

function statement(text: string, values: readonly Parameter[]): Statement {
  return { text, values, rowMode: "array" }
}

class Pool {
  readonly #free: Client[]
  readonly #waiting: ((client: Client) => void)[] = []

  constructor(clients: readonly Client[]) {
    this.#free = [...clients]
  }

  async take(): Promise<Client> {
    return this.#free.pop() ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  give(client: Client): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(client)
    else next(client)
  }
}

import { connect, type Socket } from "node:net"

/**
 * A connection of the superuser to a PostgreSQL server, for tests that prepare or examine the server. It speaks the
 * simple query protocol over the server's Unix socket, where no password is asked, so that it depends neither on the
 * driver that is tested nor on its settings. One query at a time.
 */
export class SqlConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #rows: SqlRow[] = []
  #error: Error | undefined
  #settle: { resolve(rows: readonly SqlRow[]): void; reject(error: Error): void } | undefined

  private constructor(path: string) {
    this.#socket = connect(path)
    this.#socket.on("data", (bytes) => this.#receive(bytes))
    this.#socket.on("error", (error) => this.#fail(error))
    this.#socket.on("close", () => this.#fail(new Error("the server closed the connection")))
  }

  static async open(socketPath: string, database = "troupe"): Promise<SqlConnection> {
    const connection = new SqlConnection(socketPath)
    const parameters = ["user", "postgres", "database", database, "", ""].join("\0")
    const head = Buffer.alloc(8)
    head.writeInt32BE(8 + parameters.length, 0)
    head.writeInt32BE(196_608, 4)
    await connection.#exchange(Buffer.concat([head, Buffer.from(parameters)]))
    return connection
  }

  /** Resolves with the rows of the last statement, each value as text. */
  query(sql: string): Promise<readonly SqlRow[]> {
    const text = Buffer.from(`${sql}\0`)
    const head = Buffer.from("Q\0\0\0\0", "latin1")
    head.writeInt32BE(4 + text.length, 1)
    return this.#exchange(Buffer.concat([head, text]))
  }

  close(): void {
    this.#socket.destroy()
  }

  #exchange(message: Buffer): Promise<readonly SqlRow[]> {
    if (this.#settle !== undefined) throw new Error("a query is in flight on this connection")
    this.#rows = []
    this.#error = undefined
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#socket.write(message)
    })
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#received.length >= 5) {
      const end = 1 + this.#received.readInt32BE(1)
      if (this.#received.length < end) return
      this.#handle(String.fromCharCode(this.#received[0] as number), this.#received.subarray(5, end))
      this.#received = this.#received.subarray(end)
    }
  }

  #handle(type: string, body: Buffer): void {
    switch (type) {
      case "T":
        this.#rows = []
        break
      case "D":
        this.#rows.push(valuesOf(body))
        break
      case "E":
        this.#error = new Error(messageOf(body))
        break
      case "Z": {
        const settle = this.#settle
        this.#settle = undefined
        if (this.#error === undefined) settle?.resolve(this.#rows)
        else settle?.reject(this.#error)
      }
    }
  }

  #fail(error: Error): void {
    this.#settle?.reject(this.#error ?? error)
    this.#settle = undefined
  }
}

export type SqlRow = readonly (string | undefined)[]

function valuesOf(body: Buffer): SqlRow {
  const values: (string | undefined)[] = []
  let at = 2
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const length = body.readInt32BE(at)
    at += 4
    values.push(length < 0 ? undefined : body.toString("utf8", at, at + Math.max(length, 0)))
    at += Math.max(length, 0)
  }
  return values
}

/** Fields of an error begin with a letter: `C` is for the code, `M` for the message. */
function messageOf(body: Buffer): string {
  const fields = body.toString("utf8").split("\0")
  const field = (letter: string) => fields.find((one) => one.startsWith(letter))?.slice(1)
  return `${field("M")} (${field("C")})`
}

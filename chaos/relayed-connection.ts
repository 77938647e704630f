import { connect, type Socket } from "node:net"
import type { Cuts } from "./cuts.js"

export interface ConnectionTools {
  readonly from: string
  readonly to: string
  readonly cuts: Cuts
  /** From the dialler, paused, and what it has said already. */
  readonly socket: Socket
  readonly heard: Buffer
  target(): number
  ended(): void
}

/**
 * A connection from one node to another, and what is on its way in either direction.
 *
 * What is sent into a cut is not lost but late: it waits, as it does in a sender's kernel that goes on
 * trying, and arrives when the cut is healed, unless the nodes have given up before. Not even that one of
 * them has hung up gets through. A connection that is made while either direction is cut waits too, since a
 * handshake needs both.
 */
export class RelayedConnection {
  readonly from: string
  readonly #tools: ConnectionTools
  readonly #ignore: () => void
  #there: Socket | undefined
  #isOver = false

  constructor(tools: ConnectionTools) {
    this.from = tools.from
    this.#tools = tools
    this.#ignore = tools.cuts.onChange(() => this.#changed())
  }

  begin(): void {
    const { socket } = this.#tools
    socket.setNoDelay(true)
    socket.on("close", (hadError) => this.#closed(socket, hadError))
    this.#changed()
  }

  reset(): void {
    reset(this.#tools.socket)
    if (this.#there !== undefined) reset(this.#there)
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#ignore()
    this.#tools.ended()
  }

  /** Cuts were made or healed. */
  #changed(): void {
    const { from, to, cuts, socket } = this.#tools
    if (this.#isOver) return
    if (this.#there === undefined) {
      if (!cuts.isCut(from, to) && !cuts.isCut(to, from)) this.#connect()
      return
    }
    this.#letThrough(socket, cuts.isCut(from, to))
    this.#letThrough(this.#there, cuts.isCut(to, from))
  }

  #letThrough(sender: Socket, isCut: boolean): void {
    if (isCut) sender.pause()
    else if (sender.destroyed) this.#closed(sender, false)
    else if (this.#other(sender)?.writableNeedDrain !== true) sender.resume()
  }

  #connect(): void {
    const { socket, heard } = this.#tools
    if (socket.destroyed) return this.reset()
    const there = connect({ host: "127.0.0.1", port: this.#tools.target(), noDelay: true })
    this.#there = there
    there.on("error", () => {})
    there.on("close", (hadError) => this.#closed(there, hadError))
    there.write(heard)
    for (const sender of [socket, there]) {
      sender.on("data", (chunk: Buffer) => {
        if (this.#other(sender)?.write(chunk) === false) sender.pause()
      })
      sender.on("drain", () => {
        const other = this.#other(sender)
        if (other !== undefined && !this.#isCutFrom(other)) other.resume()
      })
    }
    this.#changed()
  }

  /** What it has said before gets there first. If its words cannot get through, neither can this. */
  #closed(sender: Socket, hadError: boolean): void {
    const other = this.#other(sender)
    if (other === undefined || other.destroyed) return this.#end()
    if (this.#isCutFrom(sender)) return
    if (hadError) this.reset()
    else other.end()
  }

  #isCutFrom(sender: Socket): boolean {
    const { from, to, cuts, socket } = this.#tools
    return sender === socket ? cuts.isCut(from, to) : cuts.isCut(to, from)
  }

  #other(sender: Socket): Socket | undefined {
    return sender === this.#tools.socket ? this.#there : this.#tools.socket
  }
}

/**
 * Node leaks a socket that is reset in the turn in which it was ended, and then spins for ever when the process is to
 * exit. Whoever is at the other end of one that was ended knows that it is over.
 */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

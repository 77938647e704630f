/**
 * A node for the tests of the harness. It is in no cluster: it answers, and keeps a connection to its test.
 */
import { once } from "node:events"
import { connect } from "node:net"
import { ParentProcess } from "../parent-process.js"

export interface EchoOptions {
  /** Where its test listens: the connection closes when this process has ended. */
  readonly port?: number
  /** Exits with this code before it is up. */
  readonly exitCode?: number
  /** Is never up. */
  readonly hangs?: boolean
}

export interface EchoEvent {
  readonly asked: string
}

const parent = new ParentProcess<EchoOptions, EchoEvent>()
const { port, exitCode, hangs = false } = parent.options

const commands = {
  echo: (text: string) => {
    parent.report({ asked: text })
    return text
  },
  fail: (text: string) => {
    throw new RangeError(text)
  },
  exit: (code: number) => {
    process.stderr.write("it exits\n")
    process.exit(code)
  },
  hang: () => new Promise<never>(() => {}),
  stop: () => {},
}

export type EchoCommands = typeof commands

if (port !== undefined) {
  const socket = connect(port, "127.0.0.1").on("error", () => {})
  await once(socket, "connect")
}
if (exitCode !== undefined) {
  process.stdout.write("it cannot start\n")
  process.exit(exitCode)
}
if (!hangs) parent.serve(commands)

import type { ServerProcess } from "./server-process.js"

/** A server of a test, which can fail in the ways that machines and processes do. */
export abstract class EngineServer {
  protected readonly process: ServerProcess

  constructor(process: ServerProcess) {
    this.process = process
  }

  get isRunning(): boolean {
    return this.process.isRunning
  }

  /** What the server has printed since its first start. */
  get log(): string {
    return this.process.log
  }

  /** Ends every process of the server at once, as a failing machine does. */
  kill(): Promise<void> {
    return this.process.kill()
  }

  /** Halts every process of the server: connections stay open, and nobody answers. */
  pause(): Promise<void> {
    return this.process.pause()
  }

  resume(): Promise<void> {
    return this.process.resume()
  }

  /** Kills the server and removes its files. */
  remove(): Promise<void> {
    return this.process.remove()
  }
}

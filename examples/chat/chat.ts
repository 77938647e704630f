import { randomUUID } from "node:crypto"
import { createInterface } from "node:readline"
import { Actor, type ActorRef, ActorSystem, Behaviors, CallError, consoleLogger } from "troupe"
import { sqliteStore } from "troupe/sqlite"

interface Line {
  readonly id: string
  readonly author: string
  readonly text: string
}

interface RoomState {
  lines: Line[]
  screens: Map<string, ActorRef<Line>>
}

class Room extends Actor<RoomState> {
  static readonly type = "Room"
  static readonly methods = { where: { readOnly: true } }

  protected override initialState(): RoomState {
    return { lines: [], screens: new Map() }
  }

  async join(name: string, screen: ActorRef<Line>) {
    this.state.screens.set(name, screen)
    await this.save()
    return this.state.lines
  }

  async leave(name: string) {
    this.state.screens.delete(name)
    await this.save()
  }

  async post(line: Line) {
    if (this.state.lines.some(({ id }) => id === line.id)) return
    this.state.lines = [...this.state.lines, line].slice(-100)
    await this.save()
    for (const screen of this.state.screens.values()) screen.tell(line)
  }

  where() {
    return `${this.key} is in process ${process.pid}`
  }
}

const name = process.argv[2] ?? "ada"
const system = await ActorSystem.start({
  namespace: "chat",
  listen: { host: "127.0.0.1", port: 0 },
  store: sqliteStore({ file: "chat.db" }),
  actors: [Room],
  logger: consoleLogger({ level: "error" }),
})

function show({ author, text }: Line) {
  console.log(`${author}: ${text}`)
}

const screen = system.spawn(
  Behaviors.receive<Line>((_context, line) => {
    show(line)
    return Behaviors.same
  }),
  "screen",
)

const lobby = system.actor(Room, "lobby")
for (const line of await lobby.join(name, screen)) show(line)
const where = await lobby.where()

async function post(line: Line) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await lobby.post(line)
    } catch (error) {
      if (!(error instanceof CallError) || error.delivery !== "unknown" || attempt === 5) throw error
    }
  }
}

const typed = createInterface({ input: process.stdin })
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => typed.close())
console.log(`${name} has joined; ${where}`)
for await (const text of typed) {
  if (text === "/where") console.log(await lobby.where())
  else await post({ id: randomUUID(), author: name, text })
}
await lobby.leave(name)
await system.stop()

import { Actor, ActorSystem } from "troupe"

interface Line {
  readonly author: string
  readonly text: string
}

class Room extends Actor<{ lines: Line[] }> {
  static readonly type = "Room"

  protected override initialState() {
    return { lines: [] }
  }

  async post(line: Line) {
    this.state.lines.push(line)
    await this.save()
    return this.state.lines.length
  }

  history() {
    return this.state.lines
  }
}

const system = await ActorSystem.start({ namespace: "chat", actors: [Room] })
const lobby = system.actor(Room, "lobby")
console.log(await lobby.post({ author: "ada", text: "is anybody here?" }))
console.log(await lobby.history())
console.log(await system.actor(Room, "kitchen").history())
await system.stop()

import { connect } from "../../src/client/index.js"
import { exposed, type GatewayOptions, gateway } from "../../src/gateway/index.js"
import { Actor, type ActorSystem } from "../../src/index.js"

class Room extends Actor<{ lines: string[] }> {
  static readonly type = "Room"
  topic = "none"

  say(text: string) {
    return text.length
  }
  async lines() {
    return this.state.lines
  }
  protected kick(): string | undefined {
    return this.caller?.id
  }
}

const client = connect("wss://example.com/actors", { token: () => Promise.resolve("t") })
const room = client.actor<Room>("Room", "lobby")
export const length: Promise<number> = room.say("hi")
export const lines: Promise<string[]> = room.lines()
// @ts-expect-error TS2345: the argument is a string
room.say(1)
// @ts-expect-error TS2339: there is no such method
room.shout("hi")
// @ts-expect-error TS2339: it is not public
room.kick()
// @ts-expect-error TS2339: a field is no method
room.topic("hi")
// @ts-expect-error TS2339: clients do not make such calls
room.save()

exposed(Room, { say: true, lines: { allow: (who, { key, args }) => who.id === key && args.length === 0 } })
// @ts-expect-error TS2353: there is no such method
exposed(Room, { shout: true })
// @ts-expect-error TS2322: it is exposed or left out
exposed(Room, { say: false })

declare const system: ActorSystem
export const web = gateway(system, {
  authenticate: async (request) => {
    const token: string | null = request.headers.get("authorization")
    return token === null ? undefined : { id: token, rooms: ["lobby"] }
  },
  authorize: (who, { key }) => who.rooms.includes(key),
  expose: { Room: { say: { allow: (who) => who.rooms.length > 0 } } },
})
export const anyone: GatewayOptions = { authenticate: "anyone", expose: {} }
// @ts-expect-error TS2741: who may call has to be said
export const nobody: GatewayOptions = { expose: {} }
// @ts-expect-error TS2322: a principal has an id
export const nameless: GatewayOptions = { authenticate: () => ({ name: "ada" }), expose: {} }

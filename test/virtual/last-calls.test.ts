import { expect, test } from "vitest"
import { Actor, oneWay } from "../../src/index.js"
import { settle } from "../fake/manual-clock.js"
import { Gate, scenes } from "./scene.js"

const heard: string[] = []
let gate = new Gate()

class Listener extends Actor<number> {
  static readonly type = "Listener"

  hear(what: string) {
    heard.push(what)
  }

  async busyThenEnd() {
    await gate.promise
    this.deactivate()
  }

  async waitThenAsk(speaker: string) {
    await gate.promise
    heard.push(await this.actor(Speaker, speaker).token())
  }
}

class Speaker extends Actor<number> {
  static readonly type = "Speaker"

  sayAndEnd(what: string) {
    oneWay(this.actor(Listener, what)).hear(what)
    void this.actor(Listener, what).hear(`${what} again`)
    this.deactivate()
  }

  say(what: string) {
    oneWay(this.actor(Listener, "l")).hear(what)
    this.deactivate()
  }

  token() {
    return "asked"
  }

  sayInVainAndEnd() {
    const call = this.actor<Listener>("Nobody", "x").hear("nothing")
    void call.catch((error: { code: string }) => heard.push(error.code))
    this.deactivate()
  }
}

const start = scenes()

test("an actor that deactivates itself sends its calls first, in order", async () => {
  heard.length = 0
  const { system, lives } = await start([Listener, Speaker])
  await system.actor(Speaker, "s").sayAndEnd("bye")
  await settle()
  expect(heard).toEqual(["bye", "bye again"])
  expect(lives).toContain("s@1 invalid")
})

test("the end of an actor does not wait for calls that fail", async () => {
  heard.length = 0
  const scene = await start([Listener, Speaker])
  await scene.system.actor(Speaker, "s").sayInVainAndEnd()
  await settle()
  expect(heard).toEqual(["UnknownActorType"])
  expect(scene.lives).toContain("s@1 invalid")
})

test("a last call to an activation that ends too reaches the next one", async () => {
  heard.length = 0
  gate = new Gate()
  const { system } = await start([Listener, Speaker])
  const busy = system.actor(Listener, "l").busyThenEnd()
  await settle()
  await system.actor(Speaker, "s").say("bye")
  await settle()
  gate.open()
  await busy
  await settle()
  expect(heard).toEqual(["bye"])
  expect(system.deadLetterCount).toBe(0)
})

test("an ending actor does not wait for an actor that waits for its next activation", async () => {
  heard.length = 0
  gate = new Gate()
  const { system } = await start([Listener, Speaker])
  const busy = system.actor(Listener, "l").waitThenAsk("s")
  await settle()
  await system.actor(Speaker, "s").say("bye")
  gate.open()
  await busy
  await settle()
  expect(heard).toEqual(["asked", "bye"])
})

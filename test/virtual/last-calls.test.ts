import { expect, test } from "vitest"
import { Actor, oneWay } from "../../src/index.js"
import { settle } from "../fake/manual-clock.js"
import { scenes } from "./scene.js"

const heard: string[] = []

class Listener extends Actor<number> {
  static readonly type = "Listener"

  hear(what: string) {
    heard.push(what)
  }
}

class Speaker extends Actor<number> {
  static readonly type = "Speaker"

  sayAndEnd(what: string) {
    oneWay(this.actor(Listener, what)).hear(what)
    void this.actor(Listener, what).hear(`${what} again`)
    this.deactivate()
  }

  sayInVainAndEnd() {
    const call = this.actor<Listener>("Nobody", "x").hear("nothing")
    void call.catch((error: { code: string }) => heard.push(error.code))
    this.deactivate()
  }
}

const start = scenes()

test("an actor that ends itself has sent first what it called, in its order", async () => {
  heard.length = 0
  const { system, lives } = await start([Listener, Speaker])
  await system.actor(Speaker, "s").sayAndEnd("bye")
  await settle()
  expect(heard).toEqual(["bye", "bye again"])
  expect(lives).toContain("s@1 invalid")
})

test("and its end does not wait for what fails", async () => {
  heard.length = 0
  const scene = await start([Listener, Speaker])
  await scene.system.actor(Speaker, "s").sayInVainAndEnd()
  await settle()
  expect(heard).toEqual(["UnknownActorType"])
  expect(scene.lives).toContain("s@1 invalid")
})

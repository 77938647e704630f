import { expect, test } from "vitest"
import { ActivationBecame, Actor, type ActorHandle, type Logger, OverloadedError } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

class Sender extends Actor<{ sent: number }> {
  static readonly type = "Sender"
  static readonly idleAfterMs = 2_000
  static readonly methods = { send: { once: true } }

  protected override initialState() {
    return { sent: 0 }
  }

  send(count: number, to = "one") {
    const receiver = this.eventually(this.actor<Receiver>("Receiver", to))
    for (let left = count; left > 0; left -= 1) receiver.receive()
    this.state.sent += count
    return this.state.sent
  }

  sendUnsaved() {
    this.eventually(this.actor(Receiver, "one")).receive()
    this.reminders.set("never", { afterMs: 1_000 })
  }

  sent() {
    return this.state.sent
  }

  protected override onReminder() {
    this.state.sent += 1_000
  }
}

class Receiver extends Actor<{ received: number }> {
  static readonly type = "Receiver"
  static readonly methods = { receive: { once: true } }

  protected override initialState() {
    return { received: 0 }
  }

  receive() {
    this.state.received += 1
  }

  received() {
    return this.state.received
  }
}

const sender = <T>(scene: Scene, task: (sender: ActorHandle<Sender>) => Promise<T>) =>
  scene.on("a", (system) => task(system.actor(Sender, "sue")))

const received = (scene: Scene, machine = "a") =>
  scene.on(machine, (system) => system.actor(Receiver, "one").received())

const rowsOf = (scene: Scene): number =>
  scene.stage
    .store()
    .list()
    .entries.filter(({ key }) => key.includes("kin/Sender/sue/x/")).length

test("a plain turn that ends without a save warns that what it has decided is dropped", async () => {
  const warnings: unknown[] = []
  const logger = recording(warnings)
  await play(async (scene) => {
    await scene.start("a", [Sender, Receiver], { logger })
    await sender(scene, (one) => one.sendUnsaved())
    expect(warnings).toEqual([
      [
        "warn",
        "a turn ended without a save, so its reminders and messages are dropped",
        { actor: "Sender/sue", method: "sendUnsaved" },
      ],
    ])
    await sender(scene, (one) => one.send(1))
    await scene.sleep(10_000)
    expect(warnings).toHaveLength(1)
    expect(await received(scene)).toBe(1)
    expect(await sender(scene, (one) => one.sent())).toBe(1)
  })
})

test("an actor with too many undelivered messages is refused more, and goes on without", async () => {
  await play(async (scene) => {
    await scene.start("a", [Sender])
    for (let sent = 0; sent < 10_000; ) {
      const count = Math.min(64, 10_000 - sent)
      sent = await sender(scene, (one) => one.send(count))
    }
    const refused = await sender(scene, (one) => one.send(1)).then(undefined, (error: Error) => error)
    expect(refused).toBeInstanceOf(OverloadedError)
    expect(`${refused}`).toMatch(/Sender\/sue has reached its limit of 10000 messages that are not delivered/)
    expect(await sender(scene, (one) => one.send(0))).toBe(10_000)
    expect(rowsOf(scene)).toBe(10_000)
  })
})

test("an actor with undelivered messages is not ended as idle, and delivers them uncalled", async () => {
  await play(async (scene) => {
    await scene.start("a", [Sender], { idleAfterMs: 2_000 })
    const ended: string[] = []
    scene.on("a", (system) =>
      system.events.subscribe(ActivationBecame, ({ id, state }) => {
        if (state === "invalid") ended.push(id.key)
      }),
    )
    await sender(scene, (one) => one.send(1))
    await scene.on("a", (system) => system.actor(Sender, "idle").sent())
    await scene.sleep(12_000)
    expect(ended).toEqual(["idle"])
    await scene.start("b", [Receiver])
    await scene.sleep(15_000)
    expect(await received(scene, "b")).toBe(1)
    expect(rowsOf(scene)).toBe(0)
    await scene.sleep(12_000)
    expect(ended).toEqual(["idle", "sue"])
  })
})

function recording(warnings: unknown[]): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields) => {
      if (message.includes("dropped")) warnings.push([level, message, fields])
    },
    with: () => logger,
  }
  return logger
}

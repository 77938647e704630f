import { expect, onTestFinished, test } from "vitest"
import { Actor, ActorSystem, type LogFields, type Logger, type LogLevel } from "../../src/index.js"

class Clerk extends Actor {
  static readonly type = "Clerk"
  readonly #logOfField = this.log

  protected override onActivate() {
    this.log.log("info", "begins")
  }

  note(level: LogLevel, page: number) {
    this.log.log(level, "notes", { page })
    return [this.log.enabled(level), this.log === this.#logOfField]
  }

  detail() {
    this.log.with({ desk: 7 }).log("info", "details")
  }
}

/** A logger that records the lines of actors from `info` on. */
function recording(lines: [LogLevel, string, LogFields][]): Logger {
  const bound = (fields: LogFields): Logger => ({
    enabled: (level) => level !== "debug",
    log: (level, message, more) => {
      if ("actor" in fields && level !== "debug") lines.push([level, message, { ...fields, ...more }])
    },
    with: (more) => bound({ ...fields, ...more }),
  })
  return bound({})
}

async function start(logger: Logger): Promise<ActorSystem> {
  const system = await ActorSystem.start({ namespace: "test", actors: [Clerk], logger })
  onTestFinished(() => system.stop())
  return system
}

test("an actor logs with its type and key, through the logger of the system and its level", async () => {
  const lines: [LogLevel, string, LogFields][] = []
  const system = await start(recording(lines))
  const clerk = system.actor(Clerk, "room/42")
  expect(await clerk.note("warn", 3)).toEqual([true, true])
  expect(await clerk.note("debug", 4)).toEqual([false, true])
  await clerk.detail()
  const fields = { system: "test", actor: "Clerk/room/42" }
  expect(lines).toEqual([
    ["info", "begins", fields],
    ["warn", "notes", { ...fields, page: 3 }],
    ["info", "details", { ...fields, desk: 7 }],
  ])
})

test("a logger that throws does not affect the actor that logs", async () => {
  const broken = () => {
    throw new Error("the disk is full")
  }
  const system = await start({ enabled: broken, log: broken, with: broken })
  expect(await system.actor(Clerk, "ada").note("warn", 3)).toEqual([false, true])
})

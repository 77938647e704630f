import { expect, test } from "vitest"
import { Actor, NotUniqueError } from "../../src/index.js"
import { play, type Scene } from "../sharding/scene.js"

class User extends Actor<{ email: string; plan: string }> {
  static readonly type = "User"
  static readonly indexes = {
    email: { of: (state: { email: string }) => state.email, unique: true },
    plan: { of: (state: { plan: string }) => state.plan },
  }

  protected override initialState() {
    return { email: "", plan: "free" }
  }

  async register(email: string) {
    this.state.email = email
    this.state.plan = "pro"
    await this.save()
  }

  close() {
    this.destroy()
  }

  email() {
    return this.state.email
  }
}

function entries(scene: Scene, key: string): readonly string[] {
  const keys = ["index/", "unique/"].flatMap((prefix) =>
    scene.stage
      .store()
      .list(`shards/${prefix}`)
      .entries.map((entry) => entry.key),
  )
  return keys.filter((one) => one.includes(key))
}

test.each(["itself", "from outside", "from outside, while it does not run"])(
  "the entries of an actor that is destroyed (%s) go with it",
  async (how) => {
    await play(async (scene) => {
      await scene.start("a", [User])
      await scene.on("a", async (system) => {
        const [ada, eve] = [system.actor(User, "ada"), system.actor(User, "eve")]
        await ada.register("ada@example.com")
        await expect(eve.register("ada@example.com")).rejects.toThrow(NotUniqueError)
        if (how === "itself") await ada.close()
        else if (how === "from outside") await system.destroy(User, "ada")
      })
      if (how === "from outside, while it does not run") {
        await scene.start("b", [User])
        await scene.stop("a")
        await scene.on("b", (system) => system.destroy(User, "ada"))
      }
      const machine = how === "from outside, while it does not run" ? "b" : "a"
      expect(entries(scene, "ada@") + String(entries(scene, "ada%40"))).toBe("")
      await scene.on(machine, async (system) => {
        expect((await system.find(User, { plan: "pro" }, { partial: true } as never)).keys).toEqual([])
        await system.actor(User, "eve").register("ada@example.com")
        expect(await system.actor(User, "ada").email()).toBe("")
        await expect(system.actor(User, "ada").register("ada@example.com")).rejects.toThrow(NotUniqueError)
        await system.actor(User, "ada").register("ada@example.org")
        expect(await system.actor(User, "ada").email()).toBe("ada@example.org")
      })
    })
  },
)

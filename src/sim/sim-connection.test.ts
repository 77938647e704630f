import { describe, expect, test } from "vitest"
import { SmallWorld, text, type Witness } from "../../test/sim/small-world.js"
import { SeededRandom } from "./seeded-random.js"

/** More than an operating system buffers for its processes. */
const MUCH = 400 * 1024

describe("bytes", () => {
  test("arrive as they were written, independently in each direction", async () => {
    for (let seed = 0; seed < 30; seed += 1) {
      const small = new SmallWorld({ seed, faults: { "partial-write": 1, "slow-network": 1 } })
      const { near, far } = await small.connected()
      const random = new SeededRandom(seed)
      const sent = { near: [] as Uint8Array[], far: [] as Uint8Array[] }
      for (let write = 0; write < 20; write += 1) {
        const forth = random.bytes(1 + random.below(5_000))
        const back = random.bytes(1 + random.below(5_000))
        sent.near.push(forth)
        sent.far.push(back)
        await small.on("alpha", () => near.connection.write(forth))
        await small.on("beta", () => far.connection.write(back))
        if (random.chance(0.3)) await small.runFor(random.below(50))
      }
      await small.run()
      expect(Buffer.compare(far.bytes, Buffer.concat(sent.near))).toBe(0)
      expect(Buffer.compare(near.bytes, Buffer.concat(sent.far))).toBe(0)
      expect(small.world.faultCounts.get("partial-write")).toBeGreaterThan(0)
      expect(far.chunks.length).toBeGreaterThan(20)
    }
  })

  test("take time to arrive", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.write(text("hello")))
    const sentAt = small.world.now
    expect(far.told).toEqual([])
    await small.run()
    expect(far.text).toBe("hello")
    expect(small.world.now - sentAt).toBeGreaterThanOrEqual(100)
  })

  test("are copied: changes by the receiver do not affect the sender", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    const kept = text("kept")
    await small.on("alpha", () => near.connection.write(kept))
    await small.run()
    far.chunks[0]?.fill(0)
    expect(Buffer.from(kept).toString()).toBe("kept")
  })

  test("of length 0 are not delivered", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.write(text("")))
    await small.run()
    expect(far.told).toEqual([])
  })

  test("that are corrupted differ in exactly one bit, and the sender's copy does not change", async () => {
    let corrupted = 0
    for (let seed = 0; seed < 40; seed += 1) {
      const small = new SmallWorld({ seed, faults: { corruption: 1 } })
      const { near, far } = await small.connected()
      const sent = Array.from({ length: 20 }, (_, index) => Buffer.alloc(100, index))
      for (const bytes of sent) await small.on("alpha", () => near.connection.write(bytes))
      await small.run()
      let bits = 0
      for (const [chunk, bytes] of sent.entries()) {
        expect(bytes).toEqual(Buffer.alloc(100, chunk))
        for (const [at, byte] of bytes.entries()) bits += ones(byte ^ (far.chunks[chunk]?.[at] as number))
      }
      expect(bits).toBe(small.world.faultCounts.get("corruption") ?? 0)
      corrupted += bits
    }
    expect(corrupted).toBeGreaterThan(0)
  })
})

describe("back-pressure", () => {
  test("write returns false beyond the system's buffer, and drained is called once there is room", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    far.connection.pause()
    const answers = await small.on("alpha", () => [
      near.connection.write(new Uint8Array(1_000)),
      near.connection.write(new Uint8Array(MUCH)),
      near.connection.write(text("more")),
    ])
    expect(answers).toEqual([true, false, false])
    await small.run()
    expect([near.told, far.told]).toEqual([[], []])
    expect(near.connection.bufferedBytes).toBeGreaterThan(0)
    await small.on("beta", () => far.connection.resume())
    await small.run()
    expect(near.told).toEqual(["drained"])
    expect(near.connection.bufferedBytes).toBe(0)
    expect(far.bytes.length).toBe(1_000 + MUCH + 4)
  })

  test("a receiver that pauses between two chunks gets no further chunks", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    far.onData = () => far.connection.pause()
    for (const word of ["one", "two", "three"])
      await small.on("alpha", () => near.connection.write(text(word)))
    await small.run()
    expect(far.text).toBe("one")
    await small.on("beta", () => far.connection.resume())
    await small.run()
    expect(far.text).toBe("onetwo")
  })

  test("nothing is read before a handler is attached", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected({ attached: false })
    expect(await small.on("alpha", () => near.connection.write(new Uint8Array(MUCH)))).toBe(false)
    await small.run()
    expect(near.told).toEqual([])
    await small.on("beta", () => far.attach())
    await small.run()
    expect(far.bytes.length).toBe(MUCH)
    expect(near.told).toEqual(["drained"])
  })

  test("a second handler is refused", async () => {
    const { near } = await new SmallWorld().connected()
    expect(() => near.attach()).toThrow("already has a handler")
  })
})

describe("the end", () => {
  test("of one direction leaves the other open", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => {
      near.connection.write(text("question"))
      near.connection.end()
      near.connection.write(text("dropped"))
    })
    await small.run()
    expect(far.told).toEqual(["data", "ended"])
    expect(far.text).toBe("question")
    await small.on("beta", () => far.connection.write(text("answer")))
    await small.run()
    expect(near.text).toBe("answer")
    await small.on("beta", () => far.connection.end())
    await small.run()
    expect(near.told).toEqual(["data", "ended", "closed: ended"])
    expect(far.told).toEqual(["data", "ended", "closed: ended"])
  })

  test("comes after all written bytes, even if the reader is slow", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    far.connection.pause()
    await small.on("alpha", () => {
      near.connection.write(new Uint8Array(MUCH))
      near.connection.end()
    })
    await small.run()
    expect(far.told).toEqual([])
    await small.on("beta", () => far.connection.resume())
    await small.run()
    expect(far.bytes.length).toBe(MUCH)
    expect(far.told.at(-1)).toBe("ended")
  })

  test("of both at the same time closes both", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.end())
    await small.on("beta", () => far.connection.end())
    await small.run()
    expect(near.told).toEqual(["ended", "closed: ended"])
    expect(far.told).toEqual(["ended", "closed: ended"])
  })

  test("is not reported from inside the call that causes it", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.end())
    await small.run()
    const during = await small.on("beta", () => {
      far.connection.end()
      return [...far.told]
    })
    expect(during).toEqual(["ended"])
  })
})

describe("destroy", () => {
  test("is reported as aborted locally and as a reset to the peer", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    const during = await small.on("alpha", () => {
      near.connection.destroy()
      near.connection.write(text("dropped"))
      near.connection.destroy()
      near.connection.end()
      return [...near.told]
    })
    await small.run()
    expect(during).toEqual([])
    expect(near.told).toEqual(["closed: aborted"])
    expect(far.told).toEqual(["closed: Reset"])
    expect(far.reason).toMatchObject({ kind: "failed", error: { name: "NetworkError", code: "Reset" } })
  })

  test("bytes in flight are not delivered after it", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("beta", () => far.connection.write(text("late")))
    await small.on("alpha", () => near.connection.destroy())
    await small.run()
    expect(near.told).toEqual(["closed: aborted"])
  })

  test("is also reported to a handler that is attached afterwards", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected({ attached: false })
    await small.on("alpha", () => near.connection.destroy())
    await small.run()
    await small.on("beta", () => far.attach())
    await small.run()
    expect(far.told).toEqual(["closed: Reset"])
  })

  test("drained is not called afterwards", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.write(new Uint8Array(MUCH)))
    await small.run(() => far.told.length === 1)
    near.connection.destroy()
    await small.run()
    expect(near.told).toEqual(["closed: aborted"])
  })

  test("a handler may destroy the connection from any of its methods", async () => {
    for (const call of ["onData", "onEnded"] as const) {
      const small = new SmallWorld()
      const { near, far } = await small.connected()
      far[call] = () => far.connection.destroy()
      await small.on("alpha", () => {
        near.connection.write(text("x"))
        near.connection.end()
      })
      await small.run()
      expect(far.told.at(-1)).toBe("closed: aborted")
      expect(far.told.filter((what) => what.startsWith("closed"))).toHaveLength(1)
      expect(near.told).toEqual(["closed: Reset"])
    }
  })
})

describe("a partition", () => {
  test("holds sent bytes, and delivers them in order once it heals", async () => {
    const small = new SmallWorld({ faults: { "partial-write": 1 } })
    const { near, far } = await small.connected()
    small.world.cut("alpha", "beta")
    small.world.cut("beta", "alpha")
    for (const word of ["one ", "two ", "three"]) {
      await small.on("alpha", () => near.connection.write(text(word)))
    }
    await small.on("alpha", () => near.connection.end())
    await small.on("beta", () => far.connection.write(text("back")))
    await small.runFor(60_000)
    expect([near.told, far.told]).toEqual([[], []])
    small.world.heal()
    await small.run()
    expect(far.text).toBe("one two three")
    expect(far.told.at(-1)).toBe("ended")
    expect(near.text).toBe("back")
  })

  test("of one direction does not affect the other", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    small.world.cut("alpha", "beta")
    await small.on("alpha", () => near.connection.write(text("forth")))
    await small.on("beta", () => far.connection.write(text("back")))
    await small.run()
    expect([near.text, far.text]).toEqual(["back", ""])
    small.world.heal()
    await small.run()
    expect(far.text).toBe("forth")
  })

  test("holds a reset as well", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    small.world.cut("alpha", "beta")
    await small.on("alpha", () => near.connection.destroy())
    await small.run()
    expect([near.told, far.told]).toEqual([["closed: aborted"], []])
    small.world.heal()
    await small.run()
    expect(far.told).toEqual(["closed: Reset"])
  })

  test("fills the buffer of the sender", async () => {
    const small = new SmallWorld()
    const { near } = await small.connected()
    small.world.cut("alpha", "beta")
    expect(await small.on("alpha", () => near.connection.write(new Uint8Array(MUCH)))).toBe(false)
    await small.run()
    expect(near.told).toEqual([])
    small.world.heal()
    await small.run()
    expect(near.told).toEqual(["drained"])
  })
})

describe("a fault of the network", () => {
  test("resets both ends", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.write(text("lost")))
    small.world.connections()[0]?.cut("reset")
    await small.run()
    expect([near.told, far.told]).toEqual([["closed: Reset"], ["closed: Reset"]])
  })

  test("ends both sides cleanly, and bytes written afterwards are lost silently", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.write(text("before")))
    small.world.connections()[0]?.cut("end")
    await small.on("alpha", () => near.connection.write(text("after")))
    await small.run()
    expect(far.told).toEqual(["data", "ended"])
    expect(far.text).toBe("before")
    expect(near.told).toEqual(["ended"])
    await small.on("alpha", () => near.connection.end())
    await small.on("beta", () => far.connection.end())
    await small.run()
    expect(near.told).toEqual(["ended", "closed: ended"])
    expect(far.told).toEqual(["data", "ended", "closed: ended"])
  })

  test("a side that continues to write to a closed peer is reset instead of waiting for room", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    small.world.connections()[0]?.cut("end")
    await small.run()
    await small.on("beta", () => far.connection.end())
    await small.run()
    expect(far.told).toEqual(["ended", "closed: ended"])
    expect(await small.on("alpha", () => near.connection.write(new Uint8Array(MUCH)))).toBe(false)
    await small.run()
    expect(near.told).toEqual(["ended", "closed: Reset"])
  })

  test("a side that continues to write is reset even if a partition held the bytes", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    small.world.connections()[0]?.cut("end")
    await small.run()
    await small.on("beta", () => far.connection.end())
    await small.run()
    small.world.cut("alpha", "beta")
    await small.on("alpha", () => near.connection.write(text("held")))
    await small.run()
    expect(near.told).toEqual(["ended"])
    small.world.heal()
    await small.run()
    expect(near.told).toEqual(["ended", "closed: Reset"])
  })
})

describe("a process that dies", () => {
  test("has its connections reset by its machine", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("beta", () => far.connection.write(text("last words")))
    small.world.crash("beta")
    await small.run()
    expect(near.text).toBe("last words")
    expect(near.told).toEqual(["data", "closed: Reset"])
    expect(far.told).toEqual([])
  })

  test("may leave the other side without a notification", async () => {
    const { near, far, small } = await halfOpen()
    expect(await small.on("alpha", () => near.connection.write(new Uint8Array(MUCH)))).toBe(false)
    await small.runFor(60_000)
    expect([near.told, far.told]).toEqual([[], []])
    await small.on("alpha", () => near.connection.destroy())
    await small.run()
    expect(near.told).toEqual(["closed: aborted"])
  })

  test("does not receive bytes that were in flight", async () => {
    const small = new SmallWorld()
    const { near, far } = await small.connected()
    await small.on("alpha", () => near.connection.write(text("too late")))
    small.world.crash("beta")
    await small.run()
    expect(far.told).toEqual([])
  })
})

/**
 * A connection whose far end died silently. The seed decides this, so the first seed with that outcome is
 * used.
 */
async function halfOpen(): Promise<{ small: SmallWorld; near: Witness; far: Witness }> {
  for (let seed = 0; ; seed += 1) {
    const small = new SmallWorld({ seed, faults: { "half-open": 1 } })
    const ends = await small.connected()
    small.world.crash("beta")
    if (small.world.faultCounts.get("half-open") === 1) return { small, ...ends }
  }
}

function ones(byte: number): number {
  return byte.toString(2).replaceAll("0", "").length
}

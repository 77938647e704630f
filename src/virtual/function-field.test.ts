import { describe, expect, it } from "vitest"
import { isFunctionField } from "./function-field.js"

class Base {
  readonly inherited = (n: number) => n
}

class Fields extends Base {
  readonly arrow = (n: number) => n
  readonly bare = async (): Promise<void> => {}
  readonly old = () => {}
  readonly $dollar = (n: number) => n
  readonly assigned: () => number
  readonly data = 5
  readonly #hidden = () => 5

  constructor() {
    super()
    this.assigned = () => this.#hidden()
  }

  method(total: number): number {
    const local = (total + this.data) * 2
    return local
  }
}

describe("a function field", () => {
  it.each(["arrow", "bare", "old", "$dollar", "assigned", "inherited"])("is recognized: %s", (name) => {
    expect(isFunctionField(Fields, name)).toBe(true)
  })

  it.each(["method", "data", "hidden", "local", "total", "row", "nothing", "dollar", "a(b", ""])(
    "is not confused with anything else: %s",
    (name) => {
      expect(isFunctionField(Fields, name)).toBe(false)
    },
  )
})

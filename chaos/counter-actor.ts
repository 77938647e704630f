import { Actor } from "../src/index.js"
import type { CounterOutput } from "../src/sim/index.js"
import type { Answer } from "./answer.js"

/** A sum that is durable before it is acknowledged. */
export class Counter extends Actor<{ value: number }> {
  static readonly type = "Counter"
  static readonly methods = { read: { readOnly: true } }

  protected override initialState() {
    return { value: 0 }
  }

  read(): Answer<CounterOutput> {
    return this.#answer()
  }

  async add(amount: number): Promise<Answer<CounterOutput>> {
    this.state.value += amount
    await this.save()
    return this.#answer()
  }

  #answer(): Answer<CounterOutput> {
    return { output: { kind: "value", value: this.state.value }, generation: this.fencingToken }
  }
}

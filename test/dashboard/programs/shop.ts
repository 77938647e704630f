/** A small shop, with something to see on each page of the dashboard. */
import { setTimeout as sleep } from "node:timers/promises"
import { Actor, sharded } from "../../../src/index.js"

export class Cart extends Actor<{ items: Record<string, number> }> {
  static readonly type = "Cart"
  static readonly methods = { add: { once: true } }

  protected override initialState() {
    return { items: {} as Record<string, number> }
  }

  protected override onReminder() {}

  add(item: string) {
    this.state.items[item] = (this.state.items[item] ?? 0) + 1
    this.reminders.set("abandoned", { afterMs: 3_600_000 })
  }

  async order() {
    const items = Object.keys(this.state.items)
    await Promise.all(items.map((item) => this.actor(Stock, item).take()))
    await this.actor(Courier, `courier-${this.key.length}`).deliver()
    this.state.items = {}
    await this.save()
  }
}

export class Stock extends Actor<{ left: number }> {
  static readonly type = "Stock"
  static readonly placement = sharded({ shards: 32 })

  protected override initialState() {
    return { left: 40 }
  }

  async take() {
    this.state.left = this.state.left === 0 ? 40 : this.state.left - 1
    if (this.state.left === 0) throw new RangeError("sold out")
    await this.save()
  }
}

export class Courier extends Actor {
  static readonly type = "Courier"
  static readonly methods = { deliver: { timeoutMs: 2_000 } }

  protected override onActivate() {
    if (this.key === "on-strike") throw new Error("the courier is on strike")
  }

  async deliver() {
    await sleep(5)
  }

  nothing() {}
}

export const shop = [Cart, Stock, Courier]

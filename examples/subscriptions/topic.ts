import { Actor, type ActorRef } from "troupe"

export interface Notice {
  readonly topic: string
  readonly text: string
}

export interface Subscription {
  /** The ref of a plain actor, which still leads to it when the topic was moved to another node. */
  readonly ref: ActorRef<Notice>
  readonly expiresAtMs: number
}

/** How long a subscription lasts. A subscriber renews it, and one whose process died no longer does. */
export const SUBSCRIPTION_MS = 60_000

/** Tells its subscribers what is published. */
export class Topic extends Actor<Map<string, Subscription>> {
  static readonly type = "Topic"

  protected override initialState(): Map<string, Subscription> {
    return new Map()
  }

  /** Subscribes, or renews a subscription. `name` identifies the subscriber, so that this may be retried. */
  async subscribe(name: string, ref: ActorRef<Notice>): Promise<void> {
    this.state.set(name, { ref, expiresAtMs: Date.now() + SUBSCRIPTION_MS })
    await this.save()
  }

  async unsubscribe(name: string): Promise<void> {
    if (this.state.delete(name)) await this.save()
  }

  /** Returns how many were told. A notice to a process that has died is lost, and becomes a dead letter. */
  async publish(text: string): Promise<number> {
    for (const [name, { expiresAtMs }] of this.state) {
      if (expiresAtMs <= Date.now()) this.state.delete(name)
    }
    for (const { ref } of this.state.values()) ref.tell({ topic: this.key, text })
    return this.state.size
  }
}

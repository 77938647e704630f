import { Actor, type ActorRef, type ActorWatch } from "troupe"

export interface Notice {
  readonly topic: string
  readonly text: string
}

/**
 * Tells its subscribers what is published. They are refs of plain actors, by name; a ref still leads to its
 * actor when the topic has moved to another node.
 */
export class Topic extends Actor<Map<string, ActorRef<Notice>>> {
  static readonly type = "Topic"

  readonly #watches = new Map<string, ActorWatch>()

  protected override initialState(): Map<string, ActorRef<Notice>> {
    return new Map()
  }

  /** Watches end with the activation. What ended in the meantime is reported at once. */
  protected override onActivate(): void {
    for (const [name, ref] of this.state) this.#watchSubscriber(name, ref)
  }

  /** Subscribes, or renews a subscription. The name identifies the subscriber, so this may be retried. */
  async subscribe(name: string, ref: ActorRef<Notice>): Promise<void> {
    this.state.set(name, ref)
    this.#watchSubscriber(name, ref)
    await this.save()
  }

  async unsubscribe(name: string): Promise<void> {
    this.#watches.get(name)?.cancel()
    this.#watches.delete(name)
    if (this.state.delete(name)) await this.save()
  }

  /** Returns how many were told. A notice to a process that has just died is lost, and becomes a dead letter. */
  publish(text: string): number {
    for (const ref of this.state.values()) ref.tell({ topic: this.key, text })
    return this.state.size
  }

  #watchSubscriber(name: string, ref: ActorRef<Notice>): void {
    this.#watches.get(name)?.cancel() // of the subscriber's last process, whose end must not end this one
    this.#watches.set(
      name,
      this.watch(ref, () => this.unsubscribe(name)),
    )
  }
}

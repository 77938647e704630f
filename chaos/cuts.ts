/**
 * Between whom nothing gets through at the moment, and in which direction. A way may be cut more than once at
 * a time.
 */
export class Cuts {
  readonly #cuts = new Map<string, number>()
  readonly #listeners = new Set<() => void>()

  /** Whether what the one sends does not get to the other. */
  isCut(from: string, to: string): boolean {
    return (this.#cuts.get(way(from, to)) ?? 0) > 0
  }

  cut(from: string, to: string): void {
    this.#change(from, to, 1)
  }

  heal(from: string, to: string): void {
    this.#change(from, to, -1)
  }

  /** Is told of every change. Gives what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #change(from: string, to: string, by: number): void {
    this.#cuts.set(way(from, to), (this.#cuts.get(way(from, to)) ?? 0) + by)
    for (const listener of [...this.#listeners]) listener()
  }
}

function way(from: string, to: string): string {
  return `${from} > ${to}`
}

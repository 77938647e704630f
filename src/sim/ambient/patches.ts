import { syncBuiltinESMExports } from "node:module"

export type Callable = (...args: never[]) => unknown

/**
 * Replaced functions, and a way to restore them.
 *
 * A function that is found in two places (`setTimeout` is a global and an export of `node:timers`) gets one
 * replacement, so that the two stay equal.
 */
export class Patches {
  readonly #replacements = new WeakMap<Callable, Callable>()
  readonly #undo: (() => void)[] = []

  /** Does nothing if this version of Node has no such property, or does not allow it to be replaced. */
  replace<F extends Callable>(place: object, key: PropertyKey, make: (real: F) => F): void {
    const before = Object.getOwnPropertyDescriptor(place, key)
    if (before === undefined) {
      if (key in place) this.#shadow(place, key, make)
    } else if (before.get !== undefined) {
      if (before.configurable) this.#replaceGetter(place, key, { before, get: before.get, make })
    } else if (before.configurable || before.writable) {
      this.#put(place, key, { before, after: { ...before, value: this.#replacement(before.value, make) } })
    }
  }

  /** Replaces the getter of a property whose value is not a function. */
  replaceReading<T>(place: object, key: PropertyKey, make: (real: () => T) => () => T): void {
    const before = Object.getOwnPropertyDescriptor(place, key)
    if (before?.get === undefined || !before.configurable) return
    this.#put(place, key, { before, after: { ...before, get: imitating(before.get, make(before.get)) } })
  }

  /** Updates the named imports of Node's modules, including existing ones. */
  publish(): void {
    syncBuiltinESMExports()
  }

  /** Restores everything, except what other code has replaced in the meantime. */
  undo(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.publish()
  }

  #replacement<F extends Callable>(real: F, make: (real: F) => F): F {
    if (typeof real !== "function") return real
    const known = this.#replacements.get(real)
    if (known !== undefined) return known as F
    const made = make(real)
    this.#replacements.set(real, made)
    this.#replacements.set(made, made)
    return made
  }

  #shadow<F extends Callable>(place: object, key: PropertyKey, make: (real: F) => F): void {
    const value = this.#replacement(Reflect.get(place, key) as F, make)
    const after = { value, writable: true, configurable: true, enumerable: false }
    this.#put(place, key, { before: undefined, after })
  }

  /** Some of Node's getters load their value at the first call and replace themselves with it. */
  #replaceGetter<F extends Callable>(place: object, key: PropertyKey, getter: Getter<F>): void {
    const replacement = (real: F) => this.#replacement(real, getter.make)
    const after: PropertyDescriptor = {
      ...getter.before,
      get() {
        const installed = isAt(place, key, after)
        const value = replacement(getter.get.call(this))
        if (installed && !isAt(place, key, after)) Object.defineProperty(place, key, after)
        return value
      },
    }
    this.#put(place, key, { before: getter.before, after })
  }

  #put(place: object, key: PropertyKey, { before, after }: Change): void {
    Object.defineProperty(place, key, after)
    this.#undo.push(() => {
      if (!isAt(place, key, after)) return
      if (before === undefined) Reflect.deleteProperty(place, key)
      else Object.defineProperty(place, key, before)
    })
  }
}

/** Makes `own` look like the function that it replaces: its name, its length, and its other properties. */
export function imitating<F extends Callable>(real: F, own: F): F {
  return Object.defineProperties(own, Object.getOwnPropertyDescriptors(real))
}

interface Change {
  readonly before: PropertyDescriptor | undefined
  readonly after: PropertyDescriptor
}

interface Getter<F> {
  readonly before: PropertyDescriptor
  readonly get: () => F
  readonly make: (real: F) => F
}

function isAt(place: object, key: PropertyKey, { value, get }: PropertyDescriptor): boolean {
  const now = Object.getOwnPropertyDescriptor(place, key)
  return now !== undefined && now.value === value && now.get === get
}

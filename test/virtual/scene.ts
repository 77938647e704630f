import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"
import type { Activation } from "../../src/virtual/activation.js"
import { ActivationBecame } from "../../src/virtual/activation-events.js"
import type { RegisteredActor } from "../../src/virtual/provide.js"
import { settle } from "../fake/manual-clock.js"
import { startedSystems } from "../fake/started-systems.js"
import type { TestSystem } from "../fake/test-system.js"

/** One node with virtual actors on a manual clock, and the states of its activations. */
export interface Scene extends TestSystem {
  /** `key@generation state`, in order; generations are counted from 1 for each key. */
  readonly lives: readonly string[]
  /** Returns the activation of the actor on this node. */
  activation(type: string, key: string): Activation | undefined
}

/** Starts scenes for the tests of a file, and stops each when its test has ended. */
export function scenes() {
  const start = startedSystems()
  return async (
    actors: readonly RegisteredActor[],
    settings: Partial<ActorSystemSettings> = {},
  ): Promise<Scene> => {
    const test = await start({ actors, store: memoryStore(), lease: { deathProof: false }, ...settings })
    const generations = new Map<string, number[]>()
    const lives: string[] = []
    test.system.events.subscribe(ActivationBecame, ({ id, generation, state }) => {
      const known = generations.get(id.key) ?? []
      generations.set(id.key, known)
      if (!known.includes(generation)) known.push(generation)
      lives.push(`${id.key}@${known.indexOf(generation) + 1} ${state}`)
    })
    return {
      ...test,
      get lives() {
        test.system.events.flush()
        return lives
      },
      activation: (type, key) => ActorSystem.actorsOf(test.system)?.catalog.get(`${type}/${key}`),
    }
  }
}

/** A promise that the test settles. */
export class Gate<T = void> {
  readonly promise: Promise<T>
  open: (value: T) => void = () => {}
  fail: (error: unknown) => void = () => {}

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.open = resolve
      this.fail = reject
    })
  }
}

/** Returns the present outcome of a promise: `pending`, its value, or the error that it was rejected with. */
export async function outcome(promise: Promise<unknown>): Promise<unknown> {
  let found: unknown = "pending"
  promise.then(
    (value) => {
      found = value
    },
    (error: unknown) => {
      found = error
    },
  )
  await settle()
  return found
}

/** Returns the error that the promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { delivery?: string }> {
  return promise.then(
    (value) => {
      throw new Error(`the promise was not rejected, but resolved with ${String(value)}`)
    },
    (error: Error) => error,
  )
}

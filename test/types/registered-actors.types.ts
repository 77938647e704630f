import type { Readable } from "node:stream"
import { Actor, type ActorHandle, type ActorRef, ActorSystem, provide } from "../../src/index.js"

// What can be sent and saved, in parameters, results and states.

declare const brand: unique symbol
type UserId = string & { readonly [brand]: "UserId" }
type Price = number & { readonly __brand: unique symbol }
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

interface Tree {
  readonly name: string
  readonly parent?: Tree
  readonly children: readonly Tree[]
  readonly byName: Map<string, Tree>
}

/** Types that refer to each other, each in several fields. */
interface Expression {
  readonly left: Statement | Expression
  readonly right?: Expression | Literal | undefined
  readonly args: (Expression | Statement | Literal)[]
}
interface Statement {
  readonly body: Statement[] | Expression
  readonly condition: Expression | null
  readonly labels: Record<string, Statement | Literal>
}
interface Literal {
  readonly of: Expression | Statement | UserId | bigint
  readonly [field: `field-${string}`]: Expression | Statement | Literal
}

/** A type that grows at each level. */
interface Growing<T> {
  readonly of: T
  readonly next?: Growing<readonly T[]>
}

interface Everything {
  readonly id: UserId
  readonly price: Price
  readonly when: Date
  readonly big: bigint
  readonly bytes: Uint8Array | Buffer | ArrayBuffer | DataView | Float64Array
  readonly failure: Error | RangeError | undefined
  readonly byKey: ReadonlyMap<UserId, Set<Date>>
  readonly ref: ActorRef<{ readonly text: string }>
  readonly pair: readonly [a: string, b?: number, ...rest: bigint[]]
  readonly choice: "a" | 5 | null | { readonly kind: "b"; readonly of: Json }
  readonly unknown: unknown
  readonly record: Partial<Record<"x" | "y", number>>
  readonly nothing: undefined
  toString(): string
  [brand]: () => void
  optional?: Everything | null
}

class Plain {
  readonly text: string = ""
}

class Ledger extends Actor<Everything & { readonly tree: Tree }> {
  static readonly type = "Ledger"
  static readonly methods = { json: { readOnly: true } }

  readonly onChange = (_of: Promise<symbol>) => {}

  protected override initialState() {
    return {} as Everything & { readonly tree: Tree }
  }

  put(_all: Everything, ..._others: readonly Everything[]): void {}

  async tree(_tree: Tree | undefined, _expression?: Expression): Promise<Tree | Literal> {
    return this.state.tree
  }

  growing(_of: Growing<string>): Growing<Growing<number>> | undefined {
    return undefined
  }

  json(): Json {
    return null
  }

  // biome-ignore lint/suspicious/noExplicitAny: what it accepts is what is tested
  anything(_of: any, _other: unknown, _object: object): any {}

  fails(): never {
    throw new Error("always")
  }

  maybe(): Promise<void> | undefined {
    return undefined
  }

  generic<T>(of: T): T {
    return of
  }

  plain(of: Plain): Plain {
    return of
  }

  get getter() {
    return () => {}
  }

  _hidden(_of: () => void) {}

  #hidden(_of: () => void) {}

  protected guarded(of: () => void) {
    this.#hidden(of)
  }
}

abstract class Keeper<T> extends Actor<T> {
  protected abstract override initialState(): T

  keep(_of: T) {}
}

class NameKeeper extends Keeper<string[]> {
  static readonly type = "NameKeeper"

  protected override initialState() {
    return []
  }
}

class Optional extends Actor<{ readonly n: number } | undefined> {}

class Loose extends Actor {
  protected override initialState() {
    return { any: "state" }
  }
}

export async function accepted() {
  await ActorSystem.start({ namespace: "prod", actors: [Ledger, NameKeeper, Optional, Loose] })
}

// What cannot.

class TakesFunction extends Actor {
  subscribe(_listener: (text: string) => void) {}
}

class TakesOptionalFunction extends Actor {
  subscribe(_options?: { readonly deep?: { readonly onText?: (text: string) => void } }) {}
}

class TakesClass extends Actor {
  create(_type: abstract new () => object) {}
}

class TakesSymbol extends Actor {
  name(_of: symbol, _other: string) {}
}

class TakesPromise extends Actor {
  wait(_for: readonly Promise<number>[]) {}
}

class TakesSignal extends Actor {
  wait(_signal: AbortSignal) {}
}

class GivesStream extends Actor {
  async *lines() {
    yield "a line"
  }
}

class GivesNodeStream extends Actor {
  lines() {
    return {} as { readonly stream: Readable }
  }
}

class GivesWebStream extends Actor {
  async lines() {
    return new ReadableStream<string>()
  }
}

class GivesPattern extends Actor {
  pattern() {
    return /a/
  }
}

class GivesHandle extends Actor {
  other(): ActorHandle<Ledger> {
    return this.actor(Ledger, "other")
  }
}

class GivesItself extends Actor {
  itself() {
    return this
  }
}

class HoldsFunction extends Actor<{ readonly listeners: Map<string, () => void> }> {
  protected override initialState() {
    return { listeners: new Map() }
  }
}

class HoldsPromise extends Actor<{ readonly pending: Promise<void> | undefined }> {
  protected override initialState() {
    return { pending: undefined }
  }
}

export async function refused() {
  // @ts-expect-error TS2322: a function cannot be sent
  await ActorSystem.start({ namespace: "prod", actors: [TakesFunction] })
  // @ts-expect-error TS2322: nor where it is optional and nested
  await ActorSystem.start({ namespace: "prod", actors: [Ledger, TakesOptionalFunction] })
  // @ts-expect-error TS2322: nor a class
  await ActorSystem.start({ namespace: "prod", actors: [TakesClass] })
  // @ts-expect-error TS2322: nor a symbol
  await ActorSystem.start({ namespace: "prod", actors: [TakesSymbol] })
  // @ts-expect-error TS2322: nor a promise
  await ActorSystem.start({ namespace: "prod", actors: [TakesPromise] })
  // @ts-expect-error TS2322: nor an object with methods, such as a signal
  await ActorSystem.start({ namespace: "prod", actors: [TakesSignal] })
  // @ts-expect-error TS2322: an async generator is a stream
  await ActorSystem.start({ namespace: "prod", actors: [GivesStream] })
  // @ts-expect-error TS2322: and so is one of Node
  await ActorSystem.start({ namespace: "prod", actors: [GivesNodeStream] })
  // @ts-expect-error TS2322: and one of the web
  await ActorSystem.start({ namespace: "prod", actors: [GivesWebStream] })
  // @ts-expect-error TS2322: a regular expression is an object with methods
  await ActorSystem.start({ namespace: "prod", actors: [GivesPattern] })
  // @ts-expect-error TS2322: so is a handle
  await ActorSystem.start({ namespace: "prod", actors: [GivesHandle] })
  // @ts-expect-error TS2322: and an actor
  await ActorSystem.start({ namespace: "prod", actors: [GivesItself] })
  // @ts-expect-error TS2322: a function cannot be saved
  await ActorSystem.start({ namespace: "prod", actors: [HoldsFunction] })
  // @ts-expect-error TS2322: nor a promise
  await ActorSystem.start({ namespace: "prod", actors: [HoldsPromise] })
}

// Instances of classes.

class Money {
  readonly #cents: number

  constructor(cents: number) {
    this.#cents = cents
  }

  get cents() {
    return this.#cents
  }
}

class Point {
  readonly x: number = 0

  distance(): number {
    return this.x
  }
}

class Purse extends Actor<{ readonly money: Money }> {
  protected override initialState() {
    return { money: new Money(0) }
  }

  put(_money: Money, _at: Point | undefined) {}

  where(): readonly Point[] {
    return []
  }
}

export async function instances() {
  const encode = (money: Money) => money.cents
  const decode = (cents: number) => new Money(cents)
  const money = { type: Money, name: "Money", encode, decode }
  await ActorSystem.start({ namespace: "prod", types: [money, Point], actors: [Purse] })
  await ActorSystem.start({ namespace: "prod", actors: [Purse], types: [Point, money] })
  const shared = { namespace: "prod", types: [Point, money] }
  await ActorSystem.start({ ...shared, actors: [Purse] })
  // @ts-expect-error TS2322: a class has to be registered
  await ActorSystem.start({ namespace: "prod", types: [Point], actors: [Purse] })
  // @ts-expect-error TS2322: each of them
  await ActorSystem.start({ namespace: "prod", types: [money], actors: [Purse] })
  // @ts-expect-error TS2322: without any, none can be sent
  await ActorSystem.start({ namespace: "prod", actors: [Purse] })
}

// The first state.

class Stateless extends Actor<{ readonly n: number }> {}

class SetsField extends Actor<{ n: number }> {
  // @ts-expect-error TS2610: the state of a new actor is what initialState returns
  protected override state = { n: 5 }
}

class Wrong extends Actor<{ n: number }> {
  // @ts-expect-error TS2416: it returns the type of the state
  protected override initialState() {
    return { n: "five" }
  }
}

export async function states() {
  // @ts-expect-error TS2322: a state that may not be undefined needs a first value
  await ActorSystem.start({ namespace: "prod", actors: [Stateless] })
  return [SetsField, Wrong]
}

// Functions in fields.

class Fields extends Actor {
  readonly double = (n: number) => n * 2
  readonly none = () => 5

  method(n: number) {
    return n
  }
}

class FieldOption extends Actor {
  static readonly methods = { double: { readOnly: true } }

  readonly double = (n: number) => n * 2
}

export async function fields(actor: ActorHandle<Fields>) {
  await actor.method(1)
  // @ts-expect-error TS2345: a function in a field cannot be called
  await actor.double(1)
  // without parameters the compiler cannot tell it from a method
  await actor.none()
  // @ts-expect-error TS2322: nor can it have options
  await ActorSystem.start({ namespace: "prod", actors: [FieldOption] })
}

// Schemas.

interface Schema<Input, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): { readonly value: Output }
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

declare function schema<Input, Output = Input>(): Schema<Input, Output>

class Fits extends Actor {
  static readonly methods = {
    put: { input: schema<{ amount: number }>() },
    coerced: { input: schema<unknown, number>() },
    filled: { input: schema<string | undefined, string>() },
    several: { input: [schema<string>(), schema<number>()] as const },
    unordered: { input: [schema<string>(), schema<number>()] },
    untyped: {
      input: { "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value }) } },
    },
  } as const

  put(_of: { amount: number }) {}
  coerced(_of: number) {}
  filled(_of: string) {}
  several(_text: string, _n: number) {}
  unordered(_text: string, _n: number) {}
  untyped(_of: Date) {}
}

class WrongOutput extends Actor {
  static readonly methods = { put: { input: schema<unknown, { amount: string }>() } }
  put(_of: { amount: number }) {}
}

class WrongInput extends Actor {
  static readonly methods = { put: { input: schema<string, number>() } }
  put(_of: number) {}
}

class WrongSecond extends Actor {
  static readonly methods = { put: { input: [schema<string>(), schema<string>()] as const } }
  put(_text: string, _n: number) {}
}

class OneForTwo extends Actor {
  static readonly methods = { put: { input: schema<string>() } }
  put(_text: string, _n: number) {}
}

export async function schemas() {
  await ActorSystem.start({ namespace: "prod", actors: [Fits] })
  // @ts-expect-error TS2322: the method would get another type than its parameter says
  await ActorSystem.start({ namespace: "prod", actors: [WrongOutput] })
  // @ts-expect-error TS2322: no caller could pass what the schema accepts
  await ActorSystem.start({ namespace: "prod", actors: [WrongInput] })
  // @ts-expect-error TS2322: each schema fits its parameter
  await ActorSystem.start({ namespace: "prod", actors: [WrongSecond] })
  // @ts-expect-error TS2322: one schema is for one parameter
  await ActorSystem.start({ namespace: "prod", actors: [OneForTwo] })
}

// Dependencies.

interface Database {
  query(text: string): Promise<unknown[]>
}

export class Orders extends Actor<{ readonly n: number }, { readonly db: Database }> {
  static readonly type = "Orders"

  protected override initialState() {
    return { n: 0 }
  }

  async count() {
    const rows: unknown[] = await this.dependencies.db.query("select 1")
    // @ts-expect-error TS2339: only what is named is there
    this.dependencies.cache.clear()
    return rows.length
  }
}

class Lenient extends Actor<unknown, { readonly db: Database } | undefined> {}

class Broken extends Actor<unknown, { readonly db: Database }> {
  static readonly methods = { nothing: { readOnly: true } }
}

class NotSent extends Actor<unknown, { readonly db: Database }> {
  subscribe(_listener: () => void) {}
}

export async function provided(db: Database) {
  await ActorSystem.start({ namespace: "prod", actors: [provide(Orders, { db }), Fits] })
  await ActorSystem.start({ namespace: "prod", actors: [provide(Lenient, { db }), Loose] })
  await ActorSystem.start({ namespace: "prod", actors: [Lenient] })
  // @ts-expect-error TS2322: a class that names dependencies needs them
  await ActorSystem.start({ namespace: "prod", actors: [Orders] })
  // @ts-expect-error TS2353: and only those
  provide(Orders, { db, cache: 5 })
  // @ts-expect-error TS2741: and all of them
  provide(Orders, {})
  // @ts-expect-error TS2322: of their types
  provide(Orders, { db: 5 })
  // @ts-expect-error TS2345: only a class of actors has dependencies
  provide(Map, { db })
  // @ts-expect-error TS2322: a provided class is checked as others are
  await ActorSystem.start({ namespace: "prod", actors: [provide(Broken, { db })] })
  // @ts-expect-error TS2322: in its signatures too
  await ActorSystem.start({ namespace: "prod", actors: [provide(NotSent, { db })] })
}

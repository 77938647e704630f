import type { ActorRef } from "../actor/actor-ref.js"

/**
 * What the type `T` contains that cannot be sent or saved, in words; `never` if nothing was found.
 * `Registered` is the union of the instances of the classes in the setting `types`.
 *
 * TypeScript compares structures, so the check finds what the structure shows: functions, objects with
 * methods, symbols, promises, streams, and instances of classes with private or protected members. It accepts
 * `any`, `unknown` and type parameters; an instance of a class that has only public fields, which looks like
 * plain data; subclasses of `Error`, which are received as an `Error`; and what is nested deeper than the
 * steps below. The codec refuses what cannot be sent when it is sent.
 *
 * Each step replaces the types of a union by the types of their parts. A union contains a type once, so a
 * recursive type costs one evaluation per step, however often it refers to itself.
 */
export type Unsendable<T, Registered = never, Steps extends readonly unknown[] = AllSteps> = [T] extends [
  never,
]
  ? never
  : Steps extends readonly [unknown, ...infer Further]
    ? Unsendable<Parts<T, Registered>, Registered, Further>
    : T extends Found<infer Kind>
      ? Kind
      : never

/** The types of the parts of a value; `Found` if the value itself cannot be sent. */
type Parts<T, Registered> = unknown extends T
  ? never
  : T extends Found<string>
    ? T
    : T extends Sendable | Registered
      ? never
      : T extends symbol
        ? Found<"a symbol">
        : T extends AnyFunction
          ? Found<"a function or an object with methods">
          : T extends { then(...args: never): unknown }
            ? Found<"a promise">
            : T extends Stream
              ? Found<"a stream">
              : T extends readonly (infer Element)[]
                ? Known<Element>
                : T extends ReadonlyMap<infer Key, infer Value>
                  ? Known<Key> | Known<Value>
                  : T extends ReadonlySet<infer Element>
                    ? Known<Element>
                    : { readonly [Key in keyof T]: T[Key] } extends T
                      ? { [Key in Fields<T>]-?: Known<T[Key]> }[Fields<T>]
                      : // The copy lacks what is private or protected.
                        Found<"an instance of a class">

declare const KIND: unique symbol

interface Found<Kind extends string> {
  readonly [KIND]: Kind
}

/** `unknown` would replace every other type of a union. */
type Known<T> = unknown extends T ? never : T

/**
 * The names of fields that are sent. Symbols are not; names that begin with `__` usually exist only in the
 * type, as brands do; and every object has the methods of `Object`.
 */
type Fields<T> = Exclude<keyof T, symbol | `__${string}` | ObjectMethod>

/** The names of the methods that every object has. */
export type ObjectMethod =
  | "constructor"
  | "hasOwnProperty"
  | "isPrototypeOf"
  | "propertyIsEnumerable"
  | "toLocaleString"
  | "toString"
  | "valueOf"

type Sendable =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: the result of a method that returns nothing
  | void
  | ActorRef<never>
  | Date
  | Error
  | ArrayBuffer
  | ArrayBufferView

// biome-ignore lint/complexity/noBannedTypes: the type of a function of which nothing is known
type AnyFunction = Function | ((...args: never) => unknown) | (abstract new (...args: never) => unknown)

/** Streams of the web and of Node, async generators, and other sources and sinks of many values. */
type Stream =
  | { [Symbol.asyncIterator](): unknown }
  | { pipeTo(...args: never): unknown }
  | { getWriter(...args: never): unknown }
  | { pipe(...args: never): unknown; on(...args: never): unknown }

type AllSteps = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

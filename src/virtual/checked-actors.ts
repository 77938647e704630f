import type { WireType } from "../serialization/type-registry.js"
import type { Actor, NoInitialState } from "./actor.js"
import type { ActorClass, CallableNames, MethodOptions } from "./actor-class.js"
import type { ProvidedActor, RegisteredActor } from "./provide.js"
import type { Unsendable } from "./unsendable.js"

/**
 * Checks registered classes. A class that cannot work has a string as its expected type: the compiler shows
 * the string in its error, and it says what is wrong and what to do.
 *
 * The class declaration cannot check this itself: the type of a class is not known inside its own static
 * members, and the classes that can be sent are settings of the system.
 */
export type CheckedActors<
  Registrations extends readonly RegisteredActor[],
  Types extends readonly WireType[] = readonly WireType[],
> = {
  readonly [Index in keyof Registrations]: CheckedRegistration<
    Registrations[Index],
    InstancesOf<Types[number]>
  >
}

type CheckedRegistration<Registration, Registered> =
  Registration extends ProvidedActor<infer Class>
    ? [Problems<Class, Registered>] extends [never]
      ? Class extends CheckedClass<Class>
        ? Registration
        : ProvidedActor<CheckedClass<Class> & ActorClass>
      : Problems<Class, Registered>
    : [Problems<Registration, Registered> | Unprovided<Registration>] extends [never]
      ? Registration extends CheckedClass<Registration>
        ? Registration
        : CheckedClass<Registration>
      : Problems<Registration, Registered> | Unprovided<Registration>

/** The instances of the classes in the setting `types`. */
type InstancesOf<Type> = Type extends abstract new (
  ...args: never
) => infer Instance
  ? Instance
  : Type extends { readonly type: abstract new (...args: never) => infer Instance }
    ? Instance
    : never

/** What is wrong with a class, apart from its `methods`. */
type Problems<Class, Registered> = Class extends { new (): infer A extends Actor }
  ?
      | StateProblems<A, Registered>
      | { [Name in CallableNames<A>]: SignatureProblems<Name, A[Name], Registered> }[CallableNames<A>]
  : never

type StateProblems<A extends Actor, Registered> =
  A extends Actor<infer State, infer _Dependencies, infer Initial>
    ?
        | Refusal<"the state", Unsendable<State, Registered>>
        | (undefined extends State
            ? never
            : unknown extends Initial
              ? never
              : Extract<Initial, NoInitialState> extends never
                ? never
                : "its state has a type and no first value; return one from initialState()")
    : never

type SignatureProblems<Name, Method, Registered> = Method extends (...args: infer Args) => infer Result
  ?
      | Refusal<`a parameter of ${Name & string}`, Unsendable<Args[number], Registered>>
      | Refusal<`the result of ${Name & string}`, Unsendable<Awaited<Result>, Registered>>
  : never

type Refusal<Place extends string, Found> = Found extends keyof Advice
  ? `${Place} is or contains ${Found}; ${Advice[Found]}`
  : never

interface Advice {
  readonly "a function or an object with methods": "use plain data, a ref to an actor, or a class in the setting types"
  readonly "a symbol": "use a string"
  readonly "a promise": "await it first"
  readonly "a stream": "use plain data, in several calls if it is large"
  readonly "an instance of a class": "use plain data, or add its class to the setting types"
}

/** The problem of a class that names dependencies and is registered without them. */
type Unprovided<Class> = Class extends { new (): Actor<infer _State, infer Dependencies> }
  ? undefined extends Dependencies
    ? never
    : `it names dependencies; register it with provide(${NameOf<Class>}, { ... })`
  : never

type NameOf<Class> = Class extends { readonly type: infer Type extends string }
  ? string extends Type
    ? "Class"
    : Type
  : "Class"

type CheckedClass<Class> = Class extends { readonly methods: infer Methods; new (): infer A extends Actor }
  ? { readonly methods: CheckedMethods<Methods, A>; new (): A }
  : Class

type CheckedMethods<Methods, A extends Actor> = string extends keyof Methods
  ? Methods
  : {
      readonly [Name in keyof Methods]: Name extends CallableNames<A>
        ? CheckedOptions<Methods[Name], A[Name]>
        : `${Name & string} is not a callable method`
    }

type CheckedOptions<Options, Method> = {
  readonly [Name in keyof Options]: Name extends "input"
    ? CheckedInput<Options[Name], Method>
    : Name extends keyof MethodOptions
      ? MethodOptions[Name]
      : `${Name & string} is not an option of methods`
}

/**
 * Compares the schemas of a method with its parameters. Callers pass what the parameter says, so the schema
 * has to accept that; and the method gets what the schema returns, so the parameter has to accept that. An
 * array whose length is not known to the compiler is not compared: write `as const`.
 */
type CheckedInput<Input, Method> = Method extends (...args: infer Args) => unknown
  ? Input extends readonly unknown[]
    ? number extends Input["length"]
      ? MethodOptions["input"]
      : {
          readonly [Index in keyof Input]: Index extends keyof Args
            ? CheckedSchema<Input[Index], Args[Index]>
            : Input[Index]
        }
    : Args extends readonly [unknown, unknown, ...unknown[]]
      ? "the method has several parameters; use an array with one schema for each"
      : CheckedSchema<Input, Args[0]>
  : never

type CheckedSchema<Schema, Parameter> = Schema extends {
  readonly "~standard": {
    readonly types?: { readonly input: infer Input; readonly output: infer Output } | undefined
  }
}
  ? [Parameter] extends [Input]
    ? [Output] extends [Parameter]
      ? Schema
      : "the schema returns values that do not fit the parameter"
    : "the schema refuses values that fit the parameter"
  : MethodOptions["input"]

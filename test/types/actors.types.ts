import {
  type ActorContext,
  type ActorRef,
  ActorSystem,
  type Behavior,
  Behaviors,
  DeadLetter,
  type StashBuffer,
  type SupervisionOptions,
  type Timers,
} from "../../src/index.js"

interface Greet {
  readonly name: string
  readonly replyTo: ActorRef<string>
}

/** What the compiler accepts and refuses about actors. Nothing here runs. */
export function told(words: ActorRef<string>, both: ActorRef<string | number>, greeter: ActorRef<Greet>) {
  words.tell("hello")
  // @ts-expect-error TS2345: this actor accepts strings
  words.tell(5)
  // @ts-expect-error TS2554: tell needs a message
  words.tell()
  // @ts-expect-error TS2741: the greeter needs a replyTo
  greeter.tell({ name: "ada" })
  // @ts-expect-error TS2322: a ref for numbers cannot receive the answers, which are strings
  greeter.tell({ name: "ada", replyTo: numbers })

  // a ref that accepts more is assignable to one that accepts less
  const fewer: ActorRef<string> = both
  // @ts-expect-error TS2322: but not vice versa
  const more: ActorRef<string | number> = words
  // @ts-expect-error TS2322: nor to a ref that accepts anything
  const anything: ActorRef<unknown> = words
  const nothing: ActorRef<never> = words
  // @ts-expect-error TS2345: a ref of never accepts no message
  nothing.tell("hello")
  return [fewer, more, anything]
}

declare const numbers: ActorRef<number>

export function behaved(words: Behavior<string>, both: Behavior<string | number>) {
  const fewer: Behavior<string> = both
  // @ts-expect-error TS2322: a behavior for strings does not handle numbers
  const more: Behavior<string | number> = words
  const any: Behavior<string>[] = [Behaviors.same, Behaviors.stopped, Behaviors.unhandled]
  // @ts-expect-error TS2741: an object with the shape of a behavior is not one
  const lookalike: Behavior<string> = { kind: "same" }
  return [fewer, more, any, lookalike]
}

export function handlers(numbers: Behavior<number>) {
  return [
    Behaviors.receive<string>(() => Behaviors.same),
    Behaviors.receive<string>(async () => Behaviors.stopped),
    Behaviors.receive<string>((_context, message) =>
      message.length > 1 ? Behaviors.same : Behaviors.unhandled,
    ),
    // @ts-expect-error TS2345: a handler must return the next behavior
    Behaviors.receive<string>(() => {}),
    // @ts-expect-error TS2345: so must an async handler
    Behaviors.receive<string>(async () => {}),
    // @ts-expect-error TS2322: the next behavior accepts the same messages
    Behaviors.receive<string>(() => numbers),
    // @ts-expect-error TS2322: so does the behavior of setup
    Behaviors.setup<string>(() => numbers),
    // @ts-expect-error TS2345: unstashAll needs a behavior for the stashed messages
    Behaviors.stash<string>(10, (stash) => stash.unstashAll(numbers)),
    // @ts-expect-error TS2345: supervision does not change which messages an actor accepts
    Behaviors.supervise<string>(numbers, { strategy: "stop" }),
  ]
}

export function held(timers: Timers<string>, stash: StashBuffer<string>) {
  // @ts-expect-error TS2345: timers send messages that the actor accepts
  timers.startSingle("key", 5, 1_000)
  // @ts-expect-error TS2345: a stash holds messages that the actor accepts
  stash.stash(5)
  timers.startPeriodic("key", "tick", 1_000)
  stash.stash("later")
}

export function signals(ear: () => void) {
  // @ts-expect-error TS2345: a signal handler must return the next behavior
  return Behaviors.receive<string>(() => Behaviors.same, ear)
}

export function supervised(): SupervisionOptions[] {
  return [
    { strategy: "resume" },
    { strategy: "escalate", on: RangeError },
    { strategy: "restart", on: (error) => error === "again", limit: { restarts: 3, withinMs: 1_000 } },
    // @ts-expect-error TS2322: there are four strategies
    { strategy: "ignore" },
    // @ts-expect-error TS2820: strategies are in lower case
    { strategy: "Restart" },
    // @ts-expect-error TS2741: the strategy is required
    { on: RangeError },
    // @ts-expect-error TS2322: a class that is not an error class would match nothing
    { strategy: "stop", on: Map },
    // @ts-expect-error TS2741: a limit needs withinMs
    { strategy: "restart", limit: { restarts: 3 } },
    // @ts-expect-error TS2353: there is no such option
    { strategy: "restart", delayMs: 100 },
  ]
}

export async function asked(system: ActorSystem, greeter: ActorRef<Greet>) {
  const answer = await system.ask(greeter, (replyTo: ActorRef<string>) => ({ name: "ada", replyTo }))
  const text: string = answer
  // @ts-expect-error TS2322: the greeter answers with strings
  const number: number = answer
  const inferred: string = await system.ask(greeter, (replyTo) => ({ name: "ada", replyTo }))
  // @ts-expect-error TS2322: an annotation does not change the type of the answer
  const wanted: number = await system.ask(greeter, (replyTo) => ({ name: "ada", replyTo }))
  // @ts-expect-error TS2345: an ask sends a message that the actor accepts
  await system.ask(greeter, (replyTo: ActorRef<string>) => ({ nme: "ada", replyTo }))
  // @ts-expect-error TS2561: there is no such option
  await system.ask(greeter, (replyTo: ActorRef<string>) => ({ name: "ada", replyTo }), { timeout: 5 })
  return [text, number, inferred, wanted]
}

export function spawned(system: ActorSystem, context: ActorContext<string>, words: Behavior<string>) {
  const ref: ActorRef<string> = system.spawn(words, "words", { mailboxCapacity: 10, uid: 7 })
  // @ts-expect-error TS2322: a ref accepts what its behavior accepts
  const more: ActorRef<number> = system.spawn(words)
  // @ts-expect-error TS2322: so does the ref of a child
  const child: ActorRef<number> = context.spawn(words)
  // @ts-expect-error TS2345: a behavior for strings is not one for numbers
  system.spawn<number>(words)
  // @ts-expect-error TS2345: a name is a string
  system.spawn(words, 5)
  // @ts-expect-error TS2353: there is no such option
  system.spawn(words, "words", { capacity: 10 })
  // @ts-expect-error TS2345: a handler is not a behavior
  system.spawn(() => Behaviors.same)
  return [ref, more, child]
}

export function stopped(system: ActorSystem, context: ActorContext<string>, words: ActorRef<string>) {
  // @ts-expect-error TS2554: stop stops the whole system and takes no actor
  system.stop(words)
  // @ts-expect-error TS2554: context.stop needs a child; an actor stops itself with Behaviors.stopped
  context.stop()
  // @ts-expect-error TS2540: self is read-only
  context.self = words
  // @ts-expect-error TS2339: the list of children is read-only
  context.children.push(words)
  // @ts-expect-error TS2345: self accepts only the messages of the actor
  context.self.tell(5)
  context.watch(words)
  context.stop(words)
  return system.stopActor(words)
}

export async function started() {
  // @ts-expect-error TS2741: the namespace is required
  await ActorSystem.start({ systemName: "prod" })
  // @ts-expect-error TS2322: there are two schemes
  await ActorSystem.start({ namespace: "prod", scheme: "http" })
  // @ts-expect-error TS2561: there is no such setting
  const system = await ActorSystem.start({ namespace: "prod", drainMS: 5 })
  // @ts-expect-error TS2339: the listener of DeadLetter gets a DeadLetter
  system.events.subscribe(DeadLetter, (event) => event.content)
  return system.events.subscribe(DeadLetter, (event) => event.reason === "unhandled")
}

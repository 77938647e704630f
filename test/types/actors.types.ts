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

/** What the compiler holds about actors. Nothing here runs. */
export function told(words: ActorRef<string>, both: ActorRef<string | number>, greeter: ActorRef<Greet>) {
  words.tell("hello")
  // @ts-expect-error TS2345: this actor takes texts
  words.tell(5)
  // @ts-expect-error TS2554: a message is a message
  words.tell()
  // @ts-expect-error TS2741: the greeter is to answer, too
  greeter.tell({ name: "ada" })
  // @ts-expect-error TS2322: who answers with texts is not to be given a ref for numbers
  greeter.tell({ name: "ada", replyTo: numbers })

  // who takes more can stand in for who takes less
  const fewer: ActorRef<string> = both
  // @ts-expect-error TS2322: but not the other way around
  const more: ActorRef<string | number> = words
  // @ts-expect-error TS2322: nor can one be told just anything
  const anything: ActorRef<unknown> = words
  const nothing: ActorRef<never> = words
  // @ts-expect-error TS2345: a ref that only names an actor takes no message
  nothing.tell("hello")
  return [fewer, more, anything]
}

declare const numbers: ActorRef<number>

export function behaved(words: Behavior<string>, both: Behavior<string | number>) {
  const fewer: Behavior<string> = both
  // @ts-expect-error TS2322: a behavior for texts has no answer to a number
  const more: Behavior<string | number> = words
  const any: Behavior<string>[] = [Behaviors.same, Behaviors.stopped, Behaviors.unhandled]
  // @ts-expect-error TS2741: what looks like a behavior is none
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
    // @ts-expect-error TS2345: a handler says what comes next
    Behaviors.receive<string>(() => {}),
    // @ts-expect-error TS2345: an async one too
    Behaviors.receive<string>(async () => {}),
    // @ts-expect-error TS2322: what comes next takes the same messages
    Behaviors.receive<string>(() => numbers),
    // @ts-expect-error TS2322: so does what is set up
    Behaviors.setup<string>(() => numbers),
    // @ts-expect-error TS2345: and puts it back for a behavior that takes it
    Behaviors.stash<string>(10, (stash) => stash.unstashAll(numbers)),
    // @ts-expect-error TS2345: supervision does not change what an actor takes
    Behaviors.supervise<string>(numbers, { strategy: "stop" }),
  ]
}

export function held(timers: Timers<string>, stash: StashBuffer<string>) {
  // @ts-expect-error TS2345: an actor's timers tell it what it takes
  timers.startSingle("key", 5, 1_000)
  // @ts-expect-error TS2345: its stash holds what it takes
  stash.stash(5)
  timers.startPeriodic("key", "tick", 1_000)
  stash.stash("later")
}

export function signals(ear: () => void) {
  // @ts-expect-error TS2345: who hears a signal says what comes next, too
  return Behaviors.receive<string>(() => Behaviors.same, ear)
}

export function supervised(): SupervisionOptions[] {
  return [
    { strategy: "resume" },
    { strategy: "escalate", on: RangeError },
    { strategy: "restart", on: (error) => error === "again", limit: { restarts: 3, withinMs: 1_000 } },
    // @ts-expect-error TS2322: there are four strategies
    { strategy: "ignore" },
    // @ts-expect-error TS2820: and they are in lower case
    { strategy: "Restart" },
    // @ts-expect-error TS2741: there is always a strategy
    { on: RangeError },
    // @ts-expect-error TS2322: a class of what is no error would take nothing
    { strategy: "stop", on: Map },
    // @ts-expect-error TS2741: a limit is within a time
    { strategy: "restart", limit: { restarts: 3 } },
    // @ts-expect-error TS2353: there is no such option
    { strategy: "restart", delayMs: 100 },
  ]
}

export async function asked(system: ActorSystem, greeter: ActorRef<Greet>) {
  const answer = await system.ask(greeter, (replyTo: ActorRef<string>) => ({ name: "ada", replyTo }))
  const text: string = answer
  // @ts-expect-error TS2322: the greeter answers with texts
  const number: number = answer
  const inferred: string = await system.ask(greeter, (replyTo) => ({ name: "ada", replyTo }))
  // @ts-expect-error TS2322: nor does it for one who wants a number
  const wanted: number = await system.ask(greeter, (replyTo) => ({ name: "ada", replyTo }))
  // @ts-expect-error TS2345: what is asked is what it takes
  await system.ask(greeter, (replyTo: ActorRef<string>) => ({ nme: "ada", replyTo }))
  // @ts-expect-error TS2561: there is no such option
  await system.ask(greeter, (replyTo: ActorRef<string>) => ({ name: "ada", replyTo }), { timeout: 5 })
  return [text, number, inferred, wanted]
}

export function spawned(system: ActorSystem, context: ActorContext<string>, words: Behavior<string>) {
  const ref: ActorRef<string> = system.spawn(words, "words", { mailboxCapacity: 10, uid: 7 })
  // @ts-expect-error TS2322: an actor takes what its behavior takes
  const more: ActorRef<number> = system.spawn(words)
  // @ts-expect-error TS2322: a child too
  const child: ActorRef<number> = context.spawn(words)
  // @ts-expect-error TS2345: a behavior for texts is not one for numbers
  system.spawn<number>(words)
  // @ts-expect-error TS2345: a name is a text
  system.spawn(words, 5)
  // @ts-expect-error TS2353: there is no such option
  system.spawn(words, "words", { capacity: 10 })
  // @ts-expect-error TS2345: a handler is no behavior yet
  system.spawn(() => Behaviors.same)
  return [ref, more, child]
}

export function stopped(system: ActorSystem, context: ActorContext<string>, words: ActorRef<string>) {
  // @ts-expect-error TS2554: this stops the whole system, and is not to be mistaken for stopping one actor
  system.stop(words)
  // @ts-expect-error TS2554: an actor stops its children; itself it stops with Behaviors.stopped
  context.stop()
  // @ts-expect-error TS2540: an actor's own ref is given
  context.self = words
  // @ts-expect-error TS2339: its children are not for changing
  context.children.push(words)
  // @ts-expect-error TS2345: it does not get what it does not take
  context.self.tell(5)
  context.watch(words)
  context.stop(words)
  return system.stopActor(words)
}

export async function started() {
  // @ts-expect-error TS2741: a system has a namespace
  await ActorSystem.start({ systemName: "prod" })
  // @ts-expect-error TS2322: there are two schemes
  await ActorSystem.start({ namespace: "prod", scheme: "http" })
  // @ts-expect-error TS2561: there is no such setting
  const system = await ActorSystem.start({ namespace: "prod", drainMS: 5 })
  // @ts-expect-error TS2339: a dead letter is listened to as one
  system.events.subscribe(DeadLetter, (event) => event.content)
  return system.events.subscribe(DeadLetter, (event) => event.reason === "unhandled")
}

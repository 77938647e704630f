import { ActorId, ActorPath, ActorSelection, NodeId } from "../../src/index.js"

/** What the compiler accepts and refuses about names. Nothing here runs. */
export function made(text: string, path: ActorPath) {
  // @ts-expect-error TS2673: a path is made by parse or child
  new ActorPath()
  // @ts-expect-error TS2673: an id is made by parse or of
  new ActorId("prod", "Account", text)
  // @ts-expect-error TS2673: a node id is made by parse or fresh
  new NodeId("10.0.0.7", 25520, text)
  // @ts-expect-error TS2673: a selection is made by of
  new ActorSelection(path, [])

  return [ActorPath.parse(text), ActorId.of("prod", "Account", text), ActorSelection.of(path, text)]
}

// @ts-expect-error TS2675: a subclass could hold values that were not checked
export class OwnPath extends ActorPath {}

export function changed(path: ActorPath, id: ActorId, node: NodeId, selection: ActorSelection) {
  // @ts-expect-error TS2540: a path is a value
  path.uid = 7
  // @ts-expect-error TS2540: a path is a value
  path.path = "/user/other"
  // @ts-expect-error TS2540: so is its address
  path.address.host = "10.0.0.7"
  // @ts-expect-error TS2540: computed properties are read-only
  path.name = "other"
  // @ts-expect-error TS2339: the segments are read-only
  path.segments.push("other")
  // @ts-expect-error TS2540: an id is a value
  id.key = "other"
  // @ts-expect-error TS2540: a node id is a value
  node.incarnation = "0123456789abcdef"
  // @ts-expect-error TS2339: the patterns are read-only
  selection.patterns.push("*")
}

export function mistaken(path: ActorPath, id: ActorId) {
  // @ts-expect-error TS2322: a string is not checked
  const pathOfText: ActorPath = "troupe://prod/user/greeter"
  // @ts-expect-error TS2322: a string is not checked
  const idOfText: ActorId = "prod::Account/ada"
  // @ts-expect-error TS2322: a string is not checked
  const nodeOfText: NodeId = "10.0.0.7:25520#0123456789abcdef"
  // @ts-expect-error TS2322: a path is not a string; use toString
  const textOfPath: string = path
  // @ts-expect-error TS2739: unchecked parts are not an id
  const idOfParts: ActorId = { ...id }
  // @ts-expect-error TS2740: a path and an id are different things
  path.equals(id)
  // @ts-expect-error TS2345: paths are compared with paths
  path.equals("troupe://prod/user/greeter")
  // @ts-expect-error TS2345: there are two guardians
  ActorPath.root({ system: "prod" }, "temp")

  return [pathOfText, idOfText, nodeOfText, textOfPath, idOfParts, path.equals(path), path.toString()]
}

import type { GossipMessage } from "./gossip-messages.js"

/** What the driver of `Gossip` has to do. */
export type GossipCommand =
  /**
   * Send a message: to the node with this id, or to whoever is at this `host:port`. A message that cannot be
   * sent now is dropped, never queued: gossip repeats itself.
   */
  | { readonly kind: "send"; readonly to: string; readonly message: GossipMessage }
  /** Members or statuses have changed, or only the words of some. */
  | { readonly kind: "changed"; readonly what: "members" | "words" }
  /** This node is a member of a cluster; it is `joining`, or `up` if it has formed the cluster. */
  | { readonly kind: "joined" }
  /** A node that was asked to let this one join is in no cluster itself. */
  | { readonly kind: "outside"; readonly node: string }
  /** This node does not fit: its start fails. */
  | { readonly kind: "refused"; readonly by: string; readonly field: string; readonly problem: string }
  /** Another node asked to join, and does not fit. */
  | { readonly kind: "misfit"; readonly node: string; readonly field: string; readonly problem: string }
  /** This node has left as it asked to: it may stop. */
  | { readonly kind: "left" }
  /**
   * This incarnation is no longer a member. It says nothing any more; the node begins another one, with the
   * `contacts` of this one.
   */
  | { readonly kind: "ousted"; readonly because: string }
  /** A node is in another cluster, which was formed by mistake. */
  | { readonly kind: "foreign"; readonly node: string; readonly cluster: string }
  /** By the store: the record of this node has to be read, because a peer knows it, or no longer knows it. */
  | { readonly kind: "hint"; readonly node: string; readonly said: "there" | "gone" }

export const membersChanged: GossipCommand = { kind: "changed", what: "members" }
export const wordsChanged: GossipCommand = { kind: "changed", what: "words" }

export function send(to: string, message: GossipMessage): GossipCommand {
  return { kind: "send", to, message }
}

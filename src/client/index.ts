export { ActorCallError, type CallProblem } from "./actor-call-error.js"
export {
  type Client,
  type ClientOptions,
  type ClientSocket,
  type ClientState,
  connect,
  type HandleOptions,
  type SocketClass,
} from "./client.js"

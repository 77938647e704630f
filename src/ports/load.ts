/** How busy this process is. */
export interface Load {
  /** Returns the share of time, from 0 to 1, in which the event loop was busy since the call before. */
  busy(): number
}

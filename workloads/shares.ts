/** How many seeds of each workload the tests run, from 1 on; the rest is for runs by hand. */
export const shares = {
  activation: 32,
  bank: 30,
  burst: 12,
  index: 14,
  lag: 10,
  local: 200,
  neighbours: 4,
  once: 20,
  registry: 40,
  reminders: 14,
  remoting: 36,
  shards: 4,
  silence: 12,
  stall: 30,
  store: 200,
} as const

/**
 * Tells in chunks, each followed by a question for the account, and runs so far ahead of the answers that the
 * other side never waits and what is in flight stays far below the outbound buffer. Everything is in order on
 * one connection, so an account is exact: it has its chunk's messages, all of them and no other.
 */
export interface Teller<Account> {
  tell(number: number): void
  settle(): Promise<Account>
  handled(account: Account): number
}

export async function tellInChunks<Account>(
  operations: number,
  { tell, settle, handled }: Teller<Account>,
): Promise<Account[]> {
  const accounts: Promise<Account>[] = []
  for (let told = 0; told < operations; ) {
    const end = Math.min(operations, told + CHUNK)
    const expected = end - told
    for (; told < end; told += 1) tell(told)
    accounts.push(
      settle().then((account) => {
        if (handled(account) === expected) return account
        throw new Error(`${expected} messages were told, ${handled(account)} were handled`)
      }),
    )
    await accounts[accounts.length - CHUNKS_AHEAD]
  }
  return Promise.all(accounts)
}

const CHUNK = 1_000
const CHUNKS_AHEAD = 8

/** Reads one after the other, as the one connection of a transaction needs it. */
import type { Queries } from '../../storage/database.ts'

/** The same queries, each begun when the one before it is over, however they are asked for. */
export function inTurn(db: Queries): Queries {
  let last: Promise<unknown> = Promise.resolve()
  function after<Result>(ask: () => Promise<Result>): Promise<Result> {
    const answer = last.then(ask)
    // Whoever asked hears of a failure; the next one goes on.
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    query: (statement, values) => after(() => db.query(statement, values)),
    execute: (statement, values) => after(() => db.execute(statement, values)),
  }
}

import type { Queries } from '../../storage/database.ts'

/** Queries that run one after the other, as the connection of a transaction requires. */
export function inTurn(db: Queries): Queries {
  let last: Promise<unknown> = Promise.resolve()
  function after<Result>(ask: () => Promise<Result>): Promise<Result> {
    const answer = last.then(ask)
    // A failure is reported to its caller only; the next query goes on.
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    query: (statement, values) => after(() => db.query(statement, values)),
    queryOne: (statement, values) => after(() => db.queryOne(statement, values)),
    execute: (statement, values) => after(() => db.execute(statement, values)),
  }
}

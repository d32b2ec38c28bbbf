import type { Queries } from '../../storage/database.ts'
import { reportFormats } from '../run.ts'
import { type ReportOrder, type ReportTemplate, templatePeriods } from '../template.ts'
import { type Contents, documentOf, type Frame, frameOf } from './frame.ts'

type Given = 'periods' | 'required_module'
type Definition = Omit<ReportTemplate, Given | 'formats' | 'version' | 'build'> &
  Partial<Pick<ReportTemplate, Given>> & {
    contents(db: Queries, frame: Frame, order: ReportOrder): Promise<Contents>
  }

/** A report of what was measured in a period, which is queried in turn. */
export function template({ contents, ...definition }: Definition): ReportTemplate {
  return {
    formats: reportFormats,
    periods: templatePeriods,
    required_module: 'basic_scada',
    version: '1.0.0',
    async build(transaction, order) {
      const db = inTurn(transaction)
      const frame = await frameOf(db, order)
      return documentOf(definition, frame, await contents(db, frame, order))
    },
    ...definition,
  }
}

/** Queries that run one after the other, as the connection of a transaction requires. */
function inTurn(db: Queries): Queries {
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

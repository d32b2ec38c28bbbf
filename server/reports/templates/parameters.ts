/** What templates let whoever orders a report choose. */
import { Type } from 'typebox'

export const noParameters = Type.Object({}, { additionalProperties: false })

const counts = (name: string, description: string, standard: number) =>
  Type.Object(
    {
      [name]: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 500, default: standard, description }),
      ),
    },
    { additionalProperties: false },
  )

/** How many of the worst a table lists. */
export const worstCount = (what: string, standard = 20) =>
  counts('worst_count', `How many ${what} are listed, the worst first.`, standard)

export const rowCount = (what: string, standard = 100) =>
  counts('row_count', `How many ${what} are listed, the newest first.`, standard)

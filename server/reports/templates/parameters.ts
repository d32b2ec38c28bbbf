import { Type } from 'typebox'
import * as field from '../../http/fields.ts'
import { Closed } from '../../http/params.ts'
import type { ReportOrder } from '../template.ts'

export const noParameters = Closed({})

const counts = (name: string, description: string, standard: number) =>
  Closed({
    [name]: Type.Optional(field.Int(description, { minimum: 1, maximum: 500, default: standard })),
  })

export const worstCount = (items: string, standard = 20) =>
  counts('worst_count', `How many ${items} are listed, the worst first.`, standard)

export const rowCount = (items: string, standard = 100) =>
  counts('row_count', `How many ${items} are listed, the newest first.`, standard)

export const countOf = ({ parameters }: ReportOrder, name: 'worst_count' | 'row_count'): number =>
  Number(parameters[name])

/** Inputs that several tools share. The operations check what they mean. */
import { Type } from 'typebox'
import * as field from '../http/fields.ts'
import { id_max } from '../http/params.ts'

export const site_id = field.Text('The site, as listed by list_sites.', {
  maxLength: 64,
  examples: ['demo'],
})

export const period = {
  start: Type.Optional(field.At('Start, RFC 3339 with an offset.', '2026-06-14T00:00:00Z')),
  end: Type.Optional(field.At('End, exclusive, RFC 3339 with an offset.', '2026-06-21T00:00:00Z')),
}

export const Id = (description: string) => field.Int(description, { minimum: 0, maximum: id_max })

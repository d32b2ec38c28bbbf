import { badField } from '../http/errors.ts'
/** Links from a work order or a defect to files that are stored elsewhere. */

import { type Static, Type } from 'typebox'
import * as field from '../http/fields.ts'
import { id_max, Named, Nullable } from '../http/params.ts'
import { textForms } from '../http/text-forms.ts'
import { Time } from './fields.ts'

const attachments_max = 100
const uploaded = '2026-06-21T07:05:00.000Z'

const parts = {
  file_name: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: textForms.file_name.pattern,
    examples: ['string-7-3.jpg'],
  }),
  content_type: field.Text('Media type.', {
    pattern: '^[a-z]+/[a-zA-Z0-9.+-]+$',
    maxLength: 127,
    examples: ['image/jpeg'],
  }),
}
const url = field.Text(
  'Address of the file, without user or password. The server does not fetch it.',
  {
    pattern: textForms.web_address.pattern,
    maxLength: 2000,
    examples: ['https://files.example.com/string-7-3.jpg'],
  },
)
const size_bytes = Nullable(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [482_113] }),
)

export type Attachment = Static<typeof Attachment>
export const Attachment = Named('Attachment', {
  attachment_id: field.Int('Unique within the work order or defect.', 1),
  ...parts,
  size_bytes,
  url,
  uploaded_at: Time('When the file was attached.', uploaded),
})

export type GivenAttachment = Static<typeof GivenAttachment>
const GivenAttachment = Named('GivenAttachment', {
  attachment_id: Type.Optional(
    field.Int('An existing attachment to keep. Omit it for a new attachment.', {
      minimum: 1,
      maximum: id_max,
      examples: [1],
    }),
  ),
  ...parts,
  size_bytes: Type.Optional(size_bytes),
  url,
  uploaded_at: Type.Optional(Time('Read-only: accepted if it equals the stored time.', uploaded)),
})

export const GivenAttachments = Type.Array(GivenAttachment, {
  maxItems: attachments_max,
  description: 'The complete list. Attachments that are left out are removed.',
})

export interface AttachedList {
  attachments: readonly Attachment[]
  last_attachment_id: number
}

export const nothingAttached: AttachedList = { attachments: [], last_attachment_id: 0 }

/**
 * The new list: entries with an id are kept, the others get new ids.
 * @throws ApiError invalid for an id that is unknown, repeated or given another file, and for an
 * invalid address
 */
export function attached(
  { attachments: before, last_attachment_id }: AttachedList,
  given: readonly GivenAttachment[],
  now: Date,
): AttachedList {
  const known = new Map(before.map((one) => [one.attachment_id, one]))
  let last_id = last_attachment_id
  const attachments = given.map((one, index): Attachment => {
    const { attachment_id, ...file } = one
    if (attachment_id === undefined) {
      // Beyond the pattern, such as a port above 65535.
      if (!URL.canParse(file.url)) {
        throw badField(`attachments.${index}.url`, 'invalid_format', textForms.web_address.message)
      }
      last_id += 1
      const uploaded_at = now.toISOString()
      return { attachment_id: last_id, size_bytes: null, ...file, uploaded_at }
    }
    const stored = known.get(attachment_id)
    if (!stored) {
      const message = 'is not an existing attachment, or is repeated'
      throw badField(`attachments.${index}.attachment_id`, 'unknown_reference', message)
    }
    known.delete(attachment_id)
    requireUnchangedFile(stored, file, index)
    return stored
  })
  return { attachments, last_attachment_id: last_id }
}

/** Evidence must not become another file under the same id. */
function requireUnchangedFile(
  stored: Attachment,
  file: Omit<GivenAttachment, 'attachment_id'>,
  index: number,
): void {
  const names = ['file_name', 'content_type', 'size_bytes', 'url', 'uploaded_at'] as const
  const other = names.find((name) => file[name] !== undefined && file[name] !== stored[name])
  if (other === undefined) return
  const message =
    `is ${JSON.stringify(stored[other])} in attachment ${stored.attachment_id}, which cannot change: ` +
    'send another file without attachment_id'
  throw badField(`attachments.${index}.${other}`, 'not_allowed_value', message)
}

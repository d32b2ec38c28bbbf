/** Files of a work order or a defect, which lie elsewhere: the record links them. */
import { type Static, Type } from 'typebox'
import { invalid } from '../http/errors.ts'
import { id_max, Nullable } from '../http/params.ts'

const closed = { additionalProperties: false } as const
export const attachments_max = 100

const parts = {
  file_name: Type.String({ minLength: 1, maxLength: 255, examples: ['string-7-3.jpg'] }),
  content_type: Type.String({
    pattern: '^[a-z]+/[a-zA-Z0-9.+-]+$',
    maxLength: 127,
    description: 'Media type.',
    examples: ['image/jpeg'],
  }),
}
const url = Type.String({
  pattern: '^https?://[^\\s<>"/?#@\\\\]+([/?#][^\\s<>"]*)?$',
  maxLength: 2000,
  description: 'Where it lies, without user or password. It is not fetched.',
  examples: ['https://files.example.com/string-7-3.jpg'],
})
const size_bytes = Nullable(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [482_113] }),
)

export type Attachment = Static<typeof Attachment>
export const Attachment = Type.Object(
  {
    attachment_id: Type.Integer({ description: 'Within what it is attached to.', examples: [1] }),
    ...parts,
    size_bytes,
    url,
    uploaded_at: Type.String({
      format: 'date-time',
      description: 'When it was attached.',
      examples: ['2026-06-21T07:05:00.000Z'],
    }),
  },
  { ...closed, $id: 'Attachment' },
)

export type GivenAttachment = Static<typeof GivenAttachment>
const GivenAttachment = Type.Object(
  {
    attachment_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: id_max,
        description: 'Of one that is there and stays. Left out: a new one.',
        examples: [1],
      }),
    ),
    ...parts,
    size_bytes: Type.Optional(size_bytes),
    url,
  },
  { ...closed, $id: 'GivenAttachment' },
)

export const GivenAttachments = Type.Array(GivenAttachment, {
  maxItems: attachments_max,
  description: 'All of them from now on: who leaves one out removes it.',
})

/**
 * The list that takes the place of what was there: those with an id stay the same attachment, the
 * others get the next ids. Throws 422 for an id that is not there, or twice.
 */
export function attached(
  before: readonly Attachment[],
  given: readonly GivenAttachment[],
  now: Date,
): Attachment[] {
  const known = new Map(before.map((one) => [one.attachment_id, one]))
  let last_id = Math.max(0, ...known.keys())
  return given.map(({ attachment_id, file_name, content_type, size_bytes = null, url }, index) => {
    const kept = attachment_id === undefined ? undefined : known.get(attachment_id)
    if (attachment_id !== undefined && !kept) {
      const message = 'is no attachment that is there, or stands twice'
      const field = `attachments.${index}.attachment_id`
      throw invalid({ location: 'body', field, code: 'unknown_reference', message })
    }
    if (kept) known.delete(kept.attachment_id)
    else last_id += 1
    return {
      ...{
        attachment_id: kept?.attachment_id ?? last_id,
        file_name,
        content_type,
        size_bytes,
        url,
      },
      uploaded_at: kept?.uploaded_at ?? now.toISOString(),
    }
  })
}

/** Files of a work order or a defect, which lie elsewhere: the record links them. */
import { type Static, Type } from 'typebox'
import { invalid } from '../http/errors.ts'
import { id_max, Nullable } from '../http/params.ts'
import { textForms } from '../http/text-forms.ts'

const closed = { additionalProperties: false } as const
const attachments_max = 100

const parts = {
  file_name: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: textForms.file_name.pattern,
    examples: ['string-7-3.jpg'],
  }),
  content_type: Type.String({
    pattern: '^[a-z]+/[a-zA-Z0-9.+-]+$',
    maxLength: 127,
    description: 'Media type.',
    examples: ['image/jpeg'],
  }),
}
const url = Type.String({
  pattern: textForms.web_address.pattern,
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
        description: 'Of one that is there and stays the same. Left out: a new one.',
        examples: [1],
      }),
    ),
    ...parts,
    size_bytes: Type.Optional(size_bytes),
    url,
    uploaded_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Read-only: ignored where it is that of the attachment.',
        examples: ['2026-06-21T07:05:00.000Z'],
      }),
    ),
  },
  { ...closed, $id: 'GivenAttachment' },
)

export const GivenAttachments = Type.Array(GivenAttachment, {
  maxItems: attachments_max,
  description: 'All of them from now on: who leaves one out removes it.',
})

/** A list, and the last id that one of it or of those before it got. */
export interface AttachedList {
  attachments: readonly Attachment[]
  last_attachment_id: number
}

export const nothingAttached: AttachedList = { attachments: [], last_attachment_id: 0 }

/**
 * The list that takes the place of what was there: those with an id stay the same attachment, the
 * others get ids that none ever had. Throws 422 for an id that is not there, or twice, for one that
 * would become another file, and for an address that is none.
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
      demandAddress(file.url, index)
      last_id += 1
      const uploaded_at = now.toISOString()
      return { attachment_id: last_id, size_bytes: null, ...file, uploaded_at }
    }
    const kept = known.get(attachment_id)
    if (!kept) {
      const message = 'is no attachment that is there, or stands twice'
      throw fault(index, 'attachment_id', 'unknown_reference', message)
    }
    known.delete(attachment_id)
    demandSame(kept, file, index)
    return kept
  })
  return { attachments, last_attachment_id: last_id }
}

const fault = (index: number, name: string, code: string, message: string) =>
  invalid({ location: 'body', field: `attachments.${index}.${name}`, code, message })

/** What is shown as evidence does not become another file behind its id. */
function demandSame(
  kept: Attachment,
  file: Omit<GivenAttachment, 'attachment_id'>,
  index: number,
): void {
  const names = ['file_name', 'content_type', 'size_bytes', 'url', 'uploaded_at'] as const
  const other = names.find((name) => file[name] !== undefined && file[name] !== kept[name])
  if (other === undefined) return
  const message =
    `is ${JSON.stringify(kept[other])} of attachment ${kept.attachment_id}, which stays the ` +
    'same: another file is sent without attachment_id'
  throw fault(index, other, 'not_allowed_value', message)
}

/** A port beyond 65535, and whatever else no pattern tells. */
function demandAddress(url: string, index: number): void {
  if (URL.canParse(url)) return
  throw fault(index, 'url', 'invalid_format', textForms.web_address.message)
}

/** Links to files on other servers: photos, protocols, invoices. */

import type { GivenAttachment, WholeWorkOrder } from '@heliograph/sdk'
import { Anchor, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { heliograph } from '../../../api.ts'
import { useMay } from '../../../queries.ts'
import { Differences } from '../../../ui/differences.tsx'
import { useFormDraft } from '../../../ui/draft.ts'
import { DraftNotice } from '../../../ui/draft-notice.tsx'
import { leadTo, Problem } from '../../../ui/problem.tsx'
import { Section } from '../../../ui/section.tsx'
import { useSeenWrite } from '../../../ui/use-seen-write.ts'
import { WriteButton } from '../../../ui/write-button.tsx'
import type { Condition } from '../../../ui/write-seen.ts'
import { isOver } from './states.ts'
import { orderSubject } from './use-order.ts'

interface AttachmentsProps {
  site_id: string
  order: WholeWorkOrder
}

export function Attachments({ site_id, order }: AttachmentsProps) {
  const can_add = useMay()('om:write') && !isOver(order.status)
  return (
    <Section title="Attachments">
      <Stack gap="sm">
        {order.attachments.length === 0 && <Text size="sm">No attachments</Text>}
        <List size="sm">
          {order.attachments.map(({ attachment_id, file_name, url }) => (
            <List.Item key={attachment_id}>
              <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
                {file_name}
              </Anchor>
            </List.Item>
          ))}
        </List>
        {can_add && <AddAttachment {...{ site_id, order }} />}
      </Stack>
    </Section>
  )
}

const types: Record<string, string> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  heic: 'image/heic',
  pdf: 'application/pdf',
  csv: 'text/csv',
  txt: 'text/plain',
}

/** Guessed from the file name, because the file is not fetched. */
const typeOf = (name: string) =>
  types[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream'

function AddAttachment({ site_id, order }: AttachmentsProps) {
  const form = useForm({
    initialValues: { url: '', file_name: '' },
    validate: {
      url: (url) => (URL.canParse(url.trim()) ? null : 'Enter an address such as https://…'),
      file_name: (name) => (name.trim() ? null : 'Enter a file name such as fuse.jpg.'),
    },
  })
  const draft = useFormDraft('attachment', form)
  const { run, is_pending, error, differences } = useSeenWrite({
    ...orderSubject(site_id, order),
    done: 'Attachment added',
    onDone: draft.discard,
    write: (added: GivenAttachment, condition: Condition) => {
      // The request replaces the whole list.
      const kept = order.attachments.map(({ uploaded_at: _, ...one }) => one)
      const attachments = [...kept, added]
      const { wo_id } = order
      return heliograph.workOrderChange({ site_id, wo_id, attachments, ...condition })
    },
  })
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ url, file_name }) => {
        const name = file_name.trim()
        run({ url: url.trim(), file_name: name, content_type: typeOf(name) })
      }, leadTo(form))}
    >
      <Stack gap="xs">
        <DraftNotice {...draft} />
        <Group align="flex-start" gap="xs">
          <TextInput
            label="URL of the file"
            description="The file is linked, not uploaded."
            inputMode="url"
            style={{ flex: '2 1 240px' }}
            {...form.getInputProps('url')}
          />
          <TextInput
            label="Name"
            description="With extension, such as fuse.jpg"
            style={{ flex: '1 1 180px' }}
            {...form.getInputProps('file_name')}
          />
        </Group>
        {differences ? <Differences differences={differences} /> : <Problem error={error} />}
        <Group>
          <WriteButton scope="om:write" type="submit" variant="default" loading={is_pending}>
            Add
          </WriteButton>
        </Group>
      </Stack>
    </form>
  )
}

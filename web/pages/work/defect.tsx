/** A defect with its details and next steps. */

import type { Defect } from '@heliograph/sdk'
import { Badge, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMay } from '../../queries.ts'
import { DeviceLinks } from '../../ui/devices.tsx'
import { useHasDraft } from '../../ui/draft.ts'
import { edit_draft } from '../../ui/edit-form.tsx'
import { Page } from '../../ui/page.tsx'
import { SeverityBadge, StateBadge } from '../../ui/severity.tsx'
import { Answered } from '../../ui/states.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { EditDefect } from './defect/edit.tsx'
import { typeName } from './defect/form-parts.tsx'
import { DefectRecord } from './defect/record.tsx'
import { nextStates } from './defect/states.ts'
import { DefectSteps } from './defect/steps.tsx'
import { useDefect } from './defect/use-defect.ts'

export default function DefectPage({ site_id, defect_id }: SitePageProps) {
  if (!/^\d+$/.test(defect_id ?? '')) return <NotFound />
  return <Whole site_id={site_id} defect_id={Number(defect_id)} />
}

function Whole({ site_id, defect_id }: { site_id: string; defect_id: number }) {
  const defect = useDefect(site_id, defect_id)
  const title = defect.data ? `${defect.data.number} ${defect.data.title}` : 'Defect'
  return (
    <Page title={title}>
      <Answered query={defect}>{(defect) => <Details {...{ site_id, defect }} />}</Answered>
    </Page>
  )
}

function Details({ site_id, defect }: { site_id: string; defect: Defect }) {
  const [is_editing, editing] = useDisclosure(useHasDraft(edit_draft))
  const can_edit = useMay()('om:write') && nextStates[defect.status].length > 0
  const type = typeName(defect.type)
  return (
    <Stack>
      <Group gap="xs">
        <StateBadge state={defect.status} />
        <SeverityBadge severity={defect.severity} />
        {type && <Badge color="gray">{type}</Badge>}
        {defect.safety_relevant && <Badge color="red">Safety-relevant</Badge>}
      </Group>
      <DeviceLinks site_id={site_id} named={defect} />
      {defect.description && <Text style={{ whiteSpace: 'pre-wrap' }}>{defect.description}</Text>}
      <DefectSteps {...{ site_id, defect }} />
      <Group justify="space-between">
        <Title order={2} size="h4">
          Details
        </Title>
        <Group gap="xs">
          {defect.wo_id === null && defect.status !== 'verified' && (
            <WriteButton
              scope="om:write"
              variant="default"
              href={`/sites/${site_id}/work-orders/new?defect_ids=${defect.defect_id}`}
            >
              Create work order
            </WriteButton>
          )}
          {can_edit && !is_editing && (
            <WriteButton scope="om:write" variant="default" onClick={editing.open}>
              Change
            </WriteButton>
          )}
        </Group>
      </Group>
      {is_editing && can_edit && <EditDefect {...{ site_id, defect }} onClose={editing.close} />}
      <Paper withBorder p="sm">
        <DefectRecord {...{ site_id, defect }} />
      </Paper>
    </Stack>
  )
}

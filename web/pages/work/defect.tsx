import type { Defect } from '@heliograph/sdk'
import { Badge, Group, Paper, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { heliograph } from '../../api.ts'
import { readKey, useMay, useRead, useSite } from '../../queries.ts'
import { SeverityBadge, StateBadge } from '../../ui/badges.tsx'
import { DeviceLinks } from '../../ui/devices.tsx'
import { useHasDraft } from '../../ui/draft.ts'
import { WriteButton } from '../../ui/form.tsx'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
} from '../../ui/format.ts'
import { inputsOf } from '../../ui/inputs.tsx'
import { Facts, Heading, Page, SiteLink, timeBy } from '../../ui/page.tsx'
import { StateSteps } from '../../ui/state-steps.tsx'
import { Answered } from '../../ui/states.tsx'
import type { Condition } from '../../ui/use-write.ts'
import NotFound from '../not-found.tsx'
import type { SitePageProps } from '../pages.ts'
import { defect_fields, defectBody, rulesOf } from './defect/fields.ts'
import { HowItWasFound, nameOf, WhatIsBroken } from './defect/form-parts.tsx'
import { type DefectState, nextStates, stepName } from './defect/states.ts'
import { valuesOf } from './form-values.ts'
import { EditForm, edit_draft, isId, linksTo, seen_read } from './forms.tsx'

export default function DefectPage({ defect_id }: SitePageProps) {
  const enabled = isId(defect_id)
  const options = { ...seen_read, enabled }
  const defect = useRead('defect', 'defectGet', { defect_id: Number(defect_id) }, options)
  if (!enabled) return <NotFound />
  const title = defect.data ? `${defect.data.number} ${defect.data.title}` : 'Defect'
  return (
    <Page title={title}>
      <Answered query={defect}>{(defect) => <Details defect={defect} />}</Answered>
    </Page>
  )
}

/** A change of the defect as it was `seen`. */
const subjectOf = (site_id: string, seen: Defect) => ({
  seen,
  key: readKey('defect', 'defectGet', { site_id, defect_id: seen.defect_id }),
  read: () => heliograph.defectGet({ site_id, defect_id: seen.defect_id }),
  changes: ['defects', 'work-order'],
})

interface DefectProps {
  defect: Defect
}

function Details({ defect }: DefectProps) {
  const [is_editing, editing] = useDisclosure(useHasDraft(edit_draft))
  const can_edit = useMay()('om:write') && nextStates[defect.status].length > 0
  return (
    <Stack>
      <Group gap="xs">
        <StateBadge state={defect.status} />
        <SeverityBadge severity={defect.severity} />
        {defect.type && <Badge color="gray">{nameOf(defect.type)}</Badge>}
        {defect.safety_relevant && <Badge color="red">Safety-relevant</Badge>}
      </Group>
      <DeviceLinks named={defect} />
      {defect.description && <Text style={{ whiteSpace: 'pre-wrap' }}>{defect.description}</Text>}
      <Steps defect={defect} />
      <Group justify="space-between">
        <Heading>Details</Heading>
        <Group gap="xs">
          {defect.wo_id === null && defect.status !== 'verified' && (
            <WriteButton
              scope="om:write"
              variant="default"
              to={`/work-orders/new?defect_ids=${defect.defect_id}`}
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
      {is_editing && can_edit && <EditDefect defect={defect} onClose={editing.close} />}
      <Paper withBorder p="sm">
        <DefectFacts defect={defect} />
      </Paper>
    </Stack>
  )
}

function EditDefect({ defect, onClose }: DefectProps & { onClose: () => void }) {
  const { site_id, timezone } = useSite()
  const { defect_id } = defect
  return (
    <EditForm
      whole={defect}
      subjectOf={(seen) => subjectOf(site_id, seen)}
      initialValues={valuesOf(defect_fields, defect, timezone)}
      rules={rulesOf(timezone)}
      bodyOf={(values) => defectBody(values, timezone)}
      change={(changes, condition) =>
        heliograph.defectChange({ site_id, defect_id, ...changes, ...condition })
      }
      onClose={onClose}
    >
      {(form) => (
        <>
          <WhatIsBroken form={form} />
          <HowItWasFound form={form} />
          {inputsOf(form).lines('resolution', 'Resolution, or reason for dismissal', 2)}
        </>
      )}
    </EditForm>
  )
}

const labels: Partial<Record<DefectState, string>> = {
  resolved: 'Resolution',
  dismissed: 'Reason',
  verified: 'Resolution. A verified defect cannot be changed.',
}

function Steps({ defect }: DefectProps) {
  const { site_id } = useSite()
  const { defect_id, status, resolution } = defect
  const write = (to: DefectState, note: string, condition: Condition) => {
    const change = { site_id, defect_id, status: to, ...condition }
    return heliograph.defectChange({ ...change, ...(note && { resolution: note }) })
  }
  const steps = nextStates[status].map((to) => {
    const label = labels[to]
    const ask = label ? { label, given: resolution ?? '' } : undefined
    return { to, name: stepName(status, to), ask }
  })
  return (
    <Stack gap="xs">
      <StateSteps steps={steps} write={write} subject={subjectOf(site_id, defect)} />
    </Stack>
  )
}

function DefectFacts({ defect }: DefectProps) {
  const { detection_method: method, wo_id } = defect
  const claim = defect.warranty_claim ? (defect.warranty_reference ?? 'yes') : 'no'
  return (
    <Facts
      left_out
      rows={[
        ['Found', timeBy(defect.detected_at)],
        ['Found by', method && nameOf(method)],
        ['Reported', timeBy(defect.created_at, defect.reported_by)],
        ['Assigned to', defect.assigned_to],
        ['Module', defect.module_position],
        ['Affected modules', formatNumber(defect.affected_module_count, 0)],
        ['Temperature difference', formatQuantity(defect.temperature_delta_k, 'K')],
        ['Power loss', formatPower(defect.affected_power_kw)],
        ['Energy loss per year', formatEnergy(defect.estimated_loss_kwh_year)],
        ['Revenue loss per year', formatMoney(defect.estimated_loss_amount_year, defect.currency)],
        ['Warranty claim', claim],
        [
          'Handled by',
          wo_id && <SiteLink to={`/work-orders/${wo_id}`}>Work order {wo_id}</SiteLink>,
        ],
        ['Alerts', linksTo('/alerts?alert_id=', defect.alert_ids, 'Alert')],
        ['Resolution', defect.resolution],
        ['Resolved', timeBy(defect.resolved_at, defect.resolved_by)],
        ['Verified', timeBy(defect.verified_at, defect.verified_by)],
        ['Last changed', timeBy(defect.updated_at)],
      ]}
    />
  )
}

import type { Defect } from '@heliograph/sdk'
import { Anchor, Group } from '@mantine/core'
import { Link } from 'wouter'
import { Facts } from '../../../ui/facts.tsx'
import {
  formatEnergy,
  formatMoney,
  formatNumber,
  formatPower,
  formatQuantity,
} from '../../../ui/format.ts'
import { Time } from '../../../ui/time.tsx'
import { methodName } from './form-parts.tsx'

export function DefectRecord({ site_id, defect }: { site_id: string; defect: Defect }) {
  const at = `/sites/${site_id}`
  const by = (time: string | null, who: string | null) =>
    time === null ? null : (
      <>
        <Time at={time} />
        {who && ` by ${who}`}
      </>
    )
  const order = defect.wo_id !== null && (
    <Anchor component={Link} href={`${at}/work-orders/${defect.wo_id}`}>
      Work order {defect.wo_id}
    </Anchor>
  )
  const claim = defect.warranty_claim ? (defect.warranty_reference ?? 'yes') : 'no'
  return (
    <Facts
      left_out
      rows={[
        ['Found', by(defect.detected_at, null)],
        ['Found by', methodName(defect.detection_method)],
        ['Reported', by(defect.created_at, defect.reported_by)],
        ['Assigned to', defect.assigned_to],
        ['Module', defect.module_position],
        ['Affected modules', formatNumber(defect.affected_module_count, 0)],
        ['Temperature difference', formatQuantity(defect.temperature_delta_k, 'K')],
        ['Power loss', formatPower(defect.affected_power_kw)],
        ['Energy loss per year', formatEnergy(defect.estimated_loss_kwh_year)],
        ['Revenue loss per year', formatMoney(defect.estimated_loss_amount_year, defect.currency)],
        ['Warranty claim', claim],
        ['Handled by', order || null],
        [
          'Alerts',
          defect.alert_ids.length === 0 ? null : (
            <AlertLinks key="alerts" {...{ at, alert_ids: defect.alert_ids }} />
          ),
        ],
        ['Resolution', defect.resolution],
        ['Resolved', by(defect.resolved_at, defect.resolved_by)],
        ['Verified', by(defect.verified_at, defect.verified_by)],
        ['Last changed', by(defect.updated_at, null)],
      ]}
    />
  )
}

function AlertLinks({ at, alert_ids }: { at: string; alert_ids: readonly number[] }) {
  return (
    <Group gap="xs">
      {alert_ids.map((id) => (
        <Anchor key={id} component={Link} href={`${at}/alerts?alert_id=${id}`}>
          Alert {id}
        </Anchor>
      ))}
    </Group>
  )
}

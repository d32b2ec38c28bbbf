import type { Defect } from '@heliograph/sdk'
import { Stack } from '@mantine/core'
import { heliograph } from '../../../api.ts'
import { StateSteps } from '../../../ui/state-steps.tsx'
import type { Condition } from '../../../ui/write-seen.ts'
import { type DefectState, nextStates, stepName } from './states.ts'
import { defectSubject } from './use-defect.ts'

const labels: Partial<Record<DefectState, string>> = {
  resolved: 'Resolution',
  dismissed: 'Reason',
  verified: 'Resolution. A verified defect cannot be changed.',
}

export function DefectSteps({ site_id, defect }: { site_id: string; defect: Defect }) {
  const { defect_id, status, resolution: given } = defect
  const write = (to: DefectState, note: string, condition: Condition) =>
    heliograph.defectChange({
      site_id,
      defect_id,
      status: to,
      ...condition,
      ...(note && { resolution: note }),
    })
  const steps = nextStates[status].map((to) => {
    const label = labels[to]
    return {
      to,
      name: stepName(status, to),
      ask: label ? { label, given: given ?? '' } : undefined,
    }
  })
  return (
    <Stack gap="xs">
      <StateSteps {...{ steps, write, subject: defectSubject(site_id, defect) }} />
    </Stack>
  )
}

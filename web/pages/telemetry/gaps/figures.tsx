import type { Gap } from '@heliograph/sdk'
import { SimpleGrid } from '@mantine/core'
import type { Devices } from '../../../ui/devices.tsx'
import { Figure } from '../../../ui/figure.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { inWords } from '../../../ui/words.ts'

export const causeText: Record<Gap['cause'], string> = {
  communication: 'The device did not respond, or its readings have not arrived yet.',
  power_loss: 'The edge machine or the inverter had no power.',
  device_fault: 'The device did not respond while its neighbours did, or it was in fault.',
  maintenance: 'The device was shut down manually, or its cabinet was open.',
  clock_jump: 'The clock of the edge agent was set forward.',
  buffer_overflow: 'The buffer of the edge agent was full.',
  configuration: 'The device was not in the site file.',
  agent_stopped: 'The edge agent was stopped.',
  unknown: 'No known cause.',
}

export function sourceName(devices: Devices, gap: Gap): string {
  const { source_type, source_id } = gap
  if (source_type === 'logger') return devices.plantName(Number(source_id))
  if (source_type === 'inverter') return devices.inverterName(Number(source_id))
  return `${inWords(source_type)} ${source_id}`
}

export function GapFigures({ gaps }: { gaps: readonly Gap[] }) {
  const open = gaps.filter(({ status }) => status === 'open').length
  const lost = gaps.filter(({ status }) => status === 'unrecoverable')
  const waiting = gaps.filter(({ status }) => status === 'backfilling').length
  const lost_count = lost.reduce((sum, { missing_sample_count }) => sum + missing_sample_count, 0)
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
      <Figure label="Open" value={open} {...(open > 0 && { tone: 'bad' })} />
      <Figure label="Being recovered" value={waiting} />
      <Figure
        label="Recovered"
        value={gaps.filter(({ status }) => status === 'backfilled').length}
      />
      <Figure label="Lost" value={lost.length} note={`${formatNumber(lost_count, 0)} readings`} />
    </SimpleGrid>
  )
}

import type { Gap } from '@heliograph/sdk'
import { SimpleGrid } from '@mantine/core'
import type { Devices } from '../../../ui/devices.tsx'
import { Figure } from '../../../ui/figure.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { inWords } from '../../../ui/words.ts'

export const causeText: Record<Gap['cause'], string> = {
  communication: 'It did not answer, or what it measured has not come yet.',
  power_loss: 'The machine of the edge agent, or the inverter, was without power.',
  device_fault: 'It did not answer while others beside it did, or it was in fault.',
  maintenance: 'It was shut down by hand, or its cabinet was open.',
  clock_jump: 'The clock of the edge agent was put forward.',
  buffer_overflow: 'The edge agent had no room for what it measured.',
  configuration: 'It was not part of the site file then.',
  agent_stopped: 'The edge agent was stopped.',
  unknown: 'Nothing that was noticed explains it.',
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
      <Figure label="Not heard now" value={open} {...(open > 0 && { tone: 'bad' })} />
      <Figure label="May still come" value={waiting} />
      <Figure
        label="Came in the end"
        value={gaps.filter(({ status }) => status === 'backfilled').length}
      />
      <Figure
        label="Lost for good"
        value={lost.length}
        note={`${formatNumber(lost_count, 0)} readings`}
      />
    </SimpleGrid>
  )
}

import type { Inverter } from '@heliograph/sdk'
import { Alert, Group, Stack, Text } from '@mantine/core'
import { useRead } from '../../../queries.ts'
import { Muted } from '../../../ui/muted.tsx'
import { SeverityBadge } from '../../../ui/severity.tsx'

/** Alarms of the inverter, with texts of the alarm table of its manufacturer. */
export function Alarms({ site_id, inverter }: { site_id: string; inverter: Inverter }) {
  const codes = inverter.active_alarm_codes
  const { data } = useRead(
    'alarm-table',
    'invertersAlarmsTableList',
    { site_id },
    { enabled: codes.length > 0, staleTime: Number.POSITIVE_INFINITY },
  )
  if (codes.length === 0) return null
  const wordsOf = (code: string) => {
    const rows = data?.data.filter((row) => row.code === code) ?? []
    return rows.find(({ manufacturer }) => manufacturer === inverter.manufacturer) ?? rows[0]
  }
  return (
    <Alert color="red" variant="outline" title={`Alarms of the inverter: ${codes.length}`}>
      <Stack gap="sm">
        {codes.map((code) => {
          const words = wordsOf(code)
          return (
            <div key={code}>
              <Group gap="xs">
                {words && <SeverityBadge severity={words.severity} />}
                <Text fw={600}>{words?.name ?? code}</Text>
                <Muted>{words ? code : data && 'Not in the alarm table of the manufacturer'}</Muted>
              </Group>
              {words && <Text size="sm">{words.description}</Text>}
              {words?.cause && <Text size="sm">Cause: {words.cause}</Text>}
              {words?.recommended_action && (
                <Text size="sm">Recommended action: {words.recommended_action}</Text>
              )}
            </div>
          )
        })}
      </Stack>
    </Alert>
  )
}

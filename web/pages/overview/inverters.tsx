import type { Overview } from '@heliograph/sdk'
import { Anchor, Badge, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import { Section } from '../../ui/section.tsx'

const states = [
  ['producing', 'producing', 'teal'],
  ['standby', 'standby', 'gray'],
  ['asleep', 'asleep', 'gray'],
  ['faulted', 'fault', 'red'],
  ['offline', 'offline', 'red'],
  ['unknown', 'unknown', 'orange'],
] as const

export function InverterStates({ overview: { site, status } }: { overview: Overview }) {
  const href = `/sites/${site.site_id}/inverters`
  return (
    <Section
      title="Inverters"
      aside={
        <Anchor size="sm" component={Link} href={href}>
          All {status.inverters_total}
        </Anchor>
      }
    >
      <Group gap="xs">
        {states
          .filter(([state]) => status[`inverters_${state}`] > 0)
          .map(([state, words, color]) => (
            <Badge key={state} color={color} size="lg">
              {status[`inverters_${state}`]} {words}
            </Badge>
          ))}
      </Group>
      <Text size="sm" mt="sm">
        Strings: {status.strings_ok} OK, {status.strings_asleep} asleep
        {status.strings_zero_current > 0 && `, ${status.strings_zero_current} without current`}
        {status.strings_reverse_current > 0 &&
          `, ${status.strings_reverse_current} with reverse current`}
        {status.strings_no_data > 0 && `, ${status.strings_no_data} without data`} of{' '}
        {status.strings_total}
      </Text>
    </Section>
  )
}

import type { Overview } from '@heliograph/sdk'
import { Anchor, List, Text } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../queries.ts'
import { formatPower } from '../../ui/format.ts'
import { isDisconnected } from '../../ui/known-now.ts'
import { limitWords } from '../../ui/plant-words.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { useMayRead } from './may-read.ts'
import { curtailedWords } from './sentence.ts'

/** Limits in force, with their causes. */
export function Limits({ overview }: { overview: Overview }) {
  const { site, curtailment, loggers } = overview
  const mayRead = useMayRead()
  const causes = causesOf(overview)
  const is_unknown = loggers.length > 0 && loggers.every(isDisconnected)
  const is_curtailed = loggers.some(({ curtailment_active }) => curtailment_active)
  const href = `/sites/${site.site_id}/curtailment`
  return (
    <Section
      title="Limits"
      aside={
        mayRead('curtailment:read') && (
          <Anchor size="sm" component={Link} href={href}>
            Curtailment
          </Anchor>
        )
      }
    >
      {causes.length === 0 && !is_curtailed && (
        <Text>{is_unknown ? 'Unknown while all plants are offline.' : 'No limit in force.'}</Text>
      )}
      {causes.length > 0 && (
        <List size="sm">
          {causes.map(({ cause, count }) => (
            <List.Item key={cause}>
              {cause}: {count} {count === 1 ? 'inverter' : 'inverters'}
            </List.Item>
          ))}
        </List>
      )}
      {curtailment && curtailment.active_count > 0 && (
        <>
          <Text mt="xs">
            Limit of all plants {formatPower(curtailment.limit_kw)};{' '}
            {curtailedWords(curtailment.curtailed_now_kw)}.
          </Text>
          {mayRead('curtailment:read') && <RowsInForce overview={overview} />}
        </>
      )}
    </Section>
  )
}

function causesOf({ inverters }: Overview) {
  const counts = new Map<string, number>()
  for (const { limited_by, comm_state } of inverters) {
    if (!limited_by || limited_by === 'none') continue
    if (comm_state === 'disconnected' || comm_state === 'unknown') continue
    const cause = limitWords(limited_by)
    counts.set(cause, (counts.get(cause) ?? 0) + 1)
  }
  return [...counts].map(([cause, count]) => ({ cause, count }))
}

function RowsInForce({ overview: { site, loggers } }: { overview: Overview }) {
  const { site_id } = site
  const { data } = useRead('curtailment', 'curtailmentList', { site_id }, 15_000)
  const rows = data?.data.filter(({ is_active }) => is_active) ?? []
  return (
    <List size="sm" mt="xs">
      {rows.slice(0, 6).map((row) => (
        <List.Item key={row.id}>
          {loggers.find(({ logger_id }) => logger_id === row.logger_id)?.name ??
            `Plant ${row.logger_id}`}
          : limit {formatPower(row.max_power_kw)} until <Time at={row.end_at} />, by{' '}
          {row.created_by ?? 'the site'}
          {row.applied ? ', applied' : ', not confirmed yet'}
          {row.failure_message && `: ${row.failure_message}`}
        </List.Item>
      ))}
      {rows.length > 6 && <List.Item>and {rows.length - 6} more</List.Item>}
    </List>
  )
}

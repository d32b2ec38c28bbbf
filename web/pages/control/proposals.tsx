/** Commands that agents propose: what each would do, approve, reject. */
import { Card, Group, Text, Textarea, Title } from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../../api.ts'
import type {
  Proposal,
  ProposalList,
  ProposedHour,
  ProposedLimit,
} from '../../generated/platform.ts'
import { usePlatform, useSite } from '../../queries.ts'
import { type Words, wordBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, numeric, wrapped } from '../../ui/data-table.tsx'
import { useDevices } from '../../ui/devices.tsx'
import { Dialog, WriteButton } from '../../ui/form.tsx'
import { formatEnergy, formatMoney, formatPower, inUnit, inWords } from '../../ui/format.ts'
import { Muted, Notice, Page, Part, SiteLink, Time } from '../../ui/page.tsx'
import { Answered, Empty } from '../../ui/states.tsx'
import { useWrite } from '../../ui/use-write.ts'
import { plantWarnings } from './curtailment/warnings.ts'

const statuses: Words = {
  waiting: ['Waiting', 'orange'],
  approved: ['Approved', 'teal'],
  rejected: ['Rejected', 'gray'],
  lapsed: ['Lapsed', 'gray'],
  key_ended: ['Key ended', 'gray'],
}

const writes = { curtailment: 'curtailment:write', battery_plan: 'bess:write' } as const

interface Deciding {
  proposal: Proposal
  verb: 'approve' | 'reject'
}

export default function Proposals() {
  const [deciding, setDeciding] = useState<Deciding | null>(null)
  const proposals = usePlatform<ProposalList>('proposals', '/proposals', 15_000)
  return (
    <Page title="Proposals">
      <Text c="dimmed">
        Agents propose, people decide. A proposal commands nothing until it is approved, and lapses
        after an hour at the latest.
      </Text>
      <Answered query={proposals}>
        {({ data }) => {
          const waiting = data.filter(({ status }) => status === 'waiting')
          const others = data.filter(({ status }) => status !== 'waiting')
          return (
            <>
              <Part title="Waiting" gap="sm">
                {waiting.length === 0 && <Empty title="No proposals">Nothing waits.</Empty>}
                {waiting.map((proposal) => (
                  <ProposalCard
                    key={proposal.proposal_id}
                    proposal={proposal}
                    onDecide={(verb) => setDeciding({ proposal, verb })}
                  />
                ))}
              </Part>
              {others.length > 0 && <Decided proposals={others} />}
            </>
          )
        }}
      </Answered>
      {deciding && <DecisionDialog {...deciding} onClose={() => setDeciding(null)} />}
    </Page>
  )
}

interface CardProps {
  proposal: Proposal
  onDecide: (verb: 'approve' | 'reject') => void
}

function ProposalCard({ proposal, onDecide }: CardProps) {
  const { kind, reason, made_by, made_at, lapses_at } = proposal
  return (
    <Card padding="sm">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={3} size="h4">
            <What proposal={proposal} />
          </Title>
          <Text size="sm">{reason}</Text>
          <Muted>
            Proposed by {made_by} at <Time at={made_at} />, lapses at <Time at={lapses_at} />
          </Muted>
        </div>
        <Group gap="xs">
          <WriteButton
            scope={writes[kind]}
            variant="default"
            size="sm"
            onClick={() => onDecide('reject')}
          >
            Reject
          </WriteButton>
          <WriteButton scope={writes[kind]} size="sm" onClick={() => onDecide('approve')}>
            Approve
          </WriteButton>
        </Group>
      </Group>
      <Effect proposal={proposal} />
    </Card>
  )
}

function What({ proposal: { curtailment, battery_plan } }: { proposal: Proposal }) {
  if (curtailment) {
    const limit_kw = curtailment.limits.reduce((sum, { max_power_kw }) => sum + max_power_kw, 0)
    return (
      <>
        Limit to {formatPower(limit_kw)}, <Time at={curtailment.start_at} /> –{' '}
        <Time at={curtailment.end_at} />
      </>
    )
  }
  const { bess_id, target_date, idle, objective } = battery_plan!
  return `Battery ${bess_id}, ${target_date} (UTC): ${idle ? 'stop' : inWords(objective)}`
}

function Effect({ proposal: { curtailment, battery_plan } }: { proposal: Proposal }) {
  const { plantName } = useDevices()
  if (curtailment) {
    const columns: Column<ProposedLimit>[] = [
      column('Plant', ({ logger_id }) => plantName(logger_id)),
      numeric('Rated power', ({ rated_power_kw }) => rated_power_kw, formatPower),
      numeric('Limit', ({ max_power_kw }) => max_power_kw, formatPower),
    ]
    return (
      <>
        {curtailment.warnings.includes('logger_offline') && <Muted>The site is offline.</Muted>}
        {plantWarnings(curtailment.warnings, plantName).map((text) => (
          <Notice key={text}>{text}</Notice>
        ))}
        <DataTable
          label="Limits"
          columns={columns}
          rows={curtailment.limits}
          by="logger_id"
          width={420}
        />
      </>
    )
  }
  const { bess_id, hours, totals } = battery_plan!
  const columns: Column<ProposedHour>[] = [
    column('Hour', ({ start_at }) => <Time at={start_at} />),
    numeric('Power', ({ power_kw }) => power_kw, formatPower),
    numeric('State of charge', ({ soc_end_pct }) => soc_end_pct, inUnit('%')),
    numeric('Price per MWh', ({ price_per_mwh }) => formatMoney(price_per_mwh, totals.currency)),
  ]
  return (
    <>
      <Text size="sm">
        Charges {formatEnergy(totals.charge_kwh)}, discharges {formatEnergy(totals.discharge_kwh)},
        expected net revenue {formatMoney(totals.expected_net_amount, totals.currency)}.{' '}
        <SiteLink to={`/batteries/${bess_id}/day`}>Schedules of the battery</SiteLink>
      </Text>
      <DataTable
        label={`Plan of battery ${bess_id}`}
        columns={columns}
        rows={hours.filter(({ power_kw }) => power_kw !== 0)}
        by="start_at"
        width={520}
        none={<Muted>The battery stays idle.</Muted>}
      />
    </>
  )
}

function DecisionDialog({ proposal, verb, onClose }: Deciding & { onClose: () => void }) {
  const { site_id } = useSite()
  const { proposal_id, kind } = proposal
  const [note, setNote] = useState('')
  const is_approval = verb === 'approve'
  const decision = useWrite({
    write: (given: string | null) =>
      askPlatform('POST', `/proposals/${verb}`, {
        site_id,
        proposal_id,
        ...(!is_approval && { note: given }),
      }),
    done: is_approval ? 'Approved and commanded in your name.' : 'Rejected.',
    changes: ['proposals', kind === 'curtailment' ? 'curtailment' : 'bess'],
    onDone: onClose,
  })
  return (
    <Dialog
      title={is_approval ? 'Approve the proposal' : 'Reject the proposal'}
      action={is_approval ? 'Approve' : 'Reject'}
      write={decision}
      scope={writes[kind]}
      focus_cancel
      onAct={() => decision.run(note.trim() || null)}
      onClose={onClose}
    >
      <Text>
        <What proposal={proposal} />
      </Text>
      {is_approval ? (
        <Text size="sm">
          The command is checked again and executed in your name. The grid permit and other limits
          still apply.
        </Text>
      ) : (
        <Textarea
          label="Note"
          description="The agent can read it."
          maxLength={500}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      )}
    </Dialog>
  )
}

function Decided({ proposals }: { proposals: readonly Proposal[] }) {
  const columns: Column<Proposal>[] = [
    column('Proposed', ({ made_at }) => <Time at={made_at} />),
    wrapped('What', (proposal) => <What proposal={proposal} />),
    column('By', ({ made_by }) => made_by),
    column('State', ({ status }) => wordBadge(statuses, status)),
    column('Decided by', ({ decided_by }) => decided_by),
    wrapped('Reason or note', ({ note, reason }) => note ?? reason),
  ]
  return (
    <Part title="Decided and lapsed" gap="sm">
      <DataTable
        label="Decided and lapsed proposals"
        columns={columns}
        rows={proposals}
        by="proposal_id"
        page_size={12}
        width={860}
      />
    </Part>
  )
}

/** Creates or approves the plans of all units at once. */

import type { BatteryUnit, BessApprovals, BessOptimizations } from '@heliograph/sdk'
import { Button, Card, Group, List, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { formatMoney, formatNumber } from '../../../ui/format.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Failure } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useNow } from '../../../ui/use-now.ts'
import { useWrite } from '../../../ui/use-write.ts'
import { WriteButton } from '../../../ui/write-button.tsx'
import { bessKey, schedulesOf } from './reads.ts'

const day_ms = 86_400_000

export function AllUnits({ site_id, units }: { site_id: string; units: readonly BatteryUnit[] }) {
  const now_ms = useNow(60_000)
  const [ahead, setAhead] = useState('1')
  const [is_asked, setAsked] = useState(false)
  const target_date = new Date(now_ms + Number(ahead) * day_ms).toISOString().slice(0, 10)
  const [planned, setPlanned] = useState<BessOptimizations | null>(null)
  const [approved, setApproved] = useState<BessApprovals | null>(null)
  const changes = [bessKey(site_id)]
  const plan = useWrite({
    write: () => heliograph.bessOptimizeAll({ site_id, target_date }),
    changes,
    done: ({ data }: BessOptimizations) =>
      `${data.length} ${data.length === 1 ? 'plan' : 'plans'} proposed.`,
    onDone: setPlanned,
  })
  const approve = useWrite({
    write: () => heliograph.bessSchedulesApproveAll({ site_id, target_date }),
    changes,
    done: ({ approved }: BessApprovals) => `${approved.length} approved.`,
    onDone: (answer) => {
      setApproved(answer)
      setAsked(false)
    },
  })
  const nameOf = (id: number) =>
    units.find(({ bess_id }) => bess_id === id)?.name ?? `Battery ${id}`
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <DayChoice {...{ ahead, target_date }} onAhead={setAhead} />
        <Group gap="xs">
          <WriteButton
            scope="bess:write"
            variant="default"
            loading={plan.is_pending}
            onClick={() => plan.run(undefined)}
          >
            Plan all
          </WriteButton>
          <WriteButton scope="bess:write" onClick={() => setAsked(true)}>
            Approve all
          </WriteButton>
        </Group>
      </Group>
      {plan.error && <Failure error={plan.error} />}
      {planned && (
        <Skipped
          lines={planned.skipped.map((unit) => `${nameOf(unit.bess_id)}: ${unit.message}`)}
        />
      )}
      {approved && (
        <Skipped
          lines={approved.skipped.map(
            ({ schedule_id, message, remedy }) => `Plan ${schedule_id}: ${message} ${remedy}`,
          )}
        />
      )}
      {approved && <Broken plans={approved.broken_schedules} nameOf={nameOf} />}
      {is_asked && (
        <ApproveAll
          {...{ site_id, units, target_date, nameOf }}
          is_pending={approve.is_pending}
          error={approve.error}
          onApprove={() => approve.run(undefined)}
          onClose={() => setAsked(false)}
        />
      )}
    </Card>
  )
}

interface DayChoiceProps {
  ahead: string
  target_date: string
  onAhead: (ahead: string) => void
}

function DayChoice({ ahead, target_date, onAhead }: DayChoiceProps) {
  return (
    <Group>
      <Text fw={600}>All batteries</Text>
      <SegmentedControl
        aria-label="Day of the plans"
        value={ahead}
        onChange={onAhead}
        data={[
          { value: '0', label: 'Today' },
          { value: '1', label: 'Tomorrow' },
        ]}
      />
      <Muted>
        <Time at={`${target_date}T00:00:00Z`} />, 24 hours
      </Muted>
    </Group>
  )
}

function Skipped({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <Notice title="Some units were skipped">
      <List size="sm">
        {lines.map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
      </List>
    </Notice>
  )
}

interface BrokenProps {
  plans: BessApprovals['broken_schedules']
  nameOf: (bess_id: number) => string
}

/** Approved plans of later days that are no longer feasible. */
function Broken({ plans, nameOf }: BrokenProps) {
  if (plans.length === 0) return null
  return (
    <Notice title="Plans of later days must be created again">
      <List size="sm">
        {plans.map(({ schedule_id, bess_id, target_date, soc_start_pct }) => (
          <List.Item key={schedule_id}>
            {nameOf(bess_id)}: plan {schedule_id} of {target_date} cannot be carried out in full
            from {formatNumber(soc_start_pct)} %.
          </List.Item>
        ))}
      </List>
    </Notice>
  )
}

interface ApproveAllProps {
  site_id: string
  units: readonly BatteryUnit[]
  target_date: string
  nameOf: (bess_id: number) => string
  is_pending: boolean
  error: unknown
  onApprove: () => void
  onClose: () => void
}

function ApproveAll(props: ApproveAllProps) {
  const { site_id, units, target_date, nameOf, is_pending, error, onApprove, onClose } = props
  const proposed = useQueries({
    queries: units.map(({ bess_id }) => schedulesOf(site_id, bess_id, target_date)),
    combine: (answers) =>
      answers.flatMap(({ data }) => data?.data.filter(({ status }) => status === 'proposed') ?? []),
  })
  return (
    <Modal opened onClose={onClose} title="Approve all plans">
      <Stack>
        {proposed.length === 0 ? (
          <Text>No proposed plans for {target_date}.</Text>
        ) : (
          <>
            <Text>Plans for {target_date} (UTC):</Text>
            <List size="sm">
              {proposed.map(({ schedule_id, bess_id, totals }) => (
                <List.Item key={schedule_id}>
                  {nameOf(bess_id)}: {formatMoney(totals.expected_net_amount, totals.currency)}{' '}
                  expected
                </List.Item>
              ))}
            </List>
          </>
        )}
        {error !== null && <Failure error={error} />}
        <DialogButtons onClose={onClose}>
          <Button onClick={onApprove} loading={is_pending} disabled={proposed.length === 0}>
            Approve {proposed.length}
          </Button>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}

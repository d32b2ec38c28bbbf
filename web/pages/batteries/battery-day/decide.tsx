/** Approving and rejecting, each by a step that says what will happen. */

import type { ApprovedBessSchedule, BessSchedule } from '@heliograph/sdk'
import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { heliograph } from '../../../api.ts'
import { useDraft } from '../../../ui/draft.ts'
import { DraftNotice } from '../../../ui/draft-notice.tsx'
import { formatEnergy, formatMoney, formatNumber } from '../../../ui/format.ts'
import { DialogButtons, Modal } from '../../../ui/modal.tsx'
import { Muted } from '../../../ui/muted.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { addDays } from '../../../ui/site-day.ts'
import { Time } from '../../../ui/time.tsx'
import { useWrite } from '../../../ui/use-write.ts'
import { WriteButton } from '../../../ui/write-button.tsx'
import { bessKey, useSchedules } from '../battery/reads.ts'
import { handoverOf, isInForce } from './handover.ts'
import { Refused } from './refused.tsx'

interface DecideProps {
  site_id: string
  schedule: BessSchedule
  etag: string | undefined
}

export function Decide(props: DecideProps) {
  const [asked, setAsked] = useState<'approve' | 'reject' | null>(null)
  const close = () => setAsked(null)
  return (
    <Group gap="xs">
      <WriteButton
        scope="bess:write"
        variant="default"
        disabled={!props.etag}
        onClick={() => setAsked('reject')}
      >
        Reject
      </WriteButton>
      <WriteButton scope="bess:write" disabled={!props.etag} onClick={() => setAsked('approve')}>
        Approve
      </WriteButton>
      {asked === 'approve' && <ApproveModal {...props} onClose={close} />}
      {asked === 'reject' && <RejectModal {...props} onClose={close} />}
    </Group>
  )
}

interface DecisionProps extends DecideProps {
  onClose: () => void
}

function ApproveModal({ site_id, schedule, etag, onClose }: DecisionProps) {
  // Of the plan as it was when it was asked, whatever is read meanwhile.
  const [seen] = useState(etag)
  const { schedule_id, bess_id, target_date, hours, totals } = schedule
  const same_day = useSchedules(site_id, bess_id, target_date).data?.data ?? []
  const next_day = useSchedules(site_id, bess_id, addDays(target_date, 1)).data?.data ?? []
  const replaced = same_day.find((one) => isInForce(one) && one.schedule_id !== schedule_id)
  const broken = handoverOf(schedule, next_day)
  const first = hours.find(({ locked, power_kw }) => !locked && power_kw !== 0)
  const approve = useWrite({
    write: (_: undefined, idempotency_key) =>
      heliograph.bessScheduleApprove({
        site_id,
        schedule_id,
        'If-Match': seen,
        'Idempotency-Key': idempotency_key,
      }),
    done: ({ broken_schedules: [first_broken] }: ApprovedBessSchedule) =>
      first_broken
        ? `Approved. Plan ${first_broken.schedule_id} of ${first_broken.target_date} has to be made anew.`
        : 'Approved. The battery follows the plan.',
    changes: [bessKey(site_id)],
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title="Approve the plan">
      <Stack>
        <Text>
          The battery gives {formatEnergy(totals.discharge_kwh)} and takes{' '}
          {formatEnergy(totals.charge_kwh)} on {schedule.target_date} (UTC). That should earn{' '}
          <strong>{formatMoney(totals.expected_net_amount, totals.currency)}</strong>.
        </Text>
        {first ? (
          <Text>
            It begins to {first.power_kw > 0 ? 'discharge' : 'charge'} <Time at={first.start_at} />{' '}
            or within the hour after.
            {replaced && ` It replaces plan ${replaced.schedule_id}, which is approved.`}
          </Text>
        ) : (
          <Text>It stands still in all hours that are left.</Text>
        )}
        {broken && (
          <Notice title={`Plan ${broken.schedule_id} of ${broken.target_date} has to be made anew`}>
            It is approved, and begins with {formatNumber(broken.needs_pct)} % of charge. This plan
            ends with {formatNumber(broken.ends_pct)} %: once it is approved, the other one cannot
            be followed whole.
          </Notice>
        )}
        <Muted>
          Approval lifts no limit: cells, power conversion, window and grid permit are held each
          second.
        </Muted>
        <Refused error={approve.error} site_id={site_id} onLooked={onClose} />
        <DialogButtons onClose={onClose} focus_cancel>
          <Button loading={approve.is_pending} onClick={() => approve.run(undefined)}>
            Approve
          </Button>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}

function RejectModal({ site_id, schedule, etag, onClose }: DecisionProps) {
  const { schedule_id } = schedule
  const [seen] = useState(etag)
  const [reason, setReason, draft] = useDraft(`reject ${schedule_id}`, '')
  const [fault, setFault] = useState<string | null>(null)
  const reject = useWrite({
    write: (text: string, idempotency_key) =>
      heliograph.bessScheduleReject({
        site_id,
        schedule_id,
        reason: text,
        'If-Match': seen,
        'Idempotency-Key': idempotency_key,
      }),
    done: 'Rejected. What is approved for the day stays as it is.',
    changes: [bessKey(site_id)],
    onDone: () => {
      draft.drop()
      onClose()
    },
  })
  const submit = () => {
    const text = reason.trim()
    if (text === '') setFault('Why? Who made the plan reads it.')
    else reject.run(text)
  }
  return (
    <Modal opened onClose={onClose} title="Reject the plan" closeOnClickOutside={reason === ''}>
      <Stack>
        <DraftNotice {...draft} />
        <Text>
          What is approved for the day stays as it is; without that the battery stands still.
        </Text>
        <Textarea
          label="Reason"
          autosize
          minRows={2}
          maxLength={500}
          value={reason}
          error={fault}
          data-autofocus
          onChange={({ currentTarget }) => {
            setReason(currentTarget.value)
            setFault(null)
          }}
        />
        <Refused error={reject.error} site_id={site_id} onLooked={onClose} />
        <DialogButtons onClose={onClose}>
          <Button loading={reject.is_pending} onClick={submit}>
            Reject
          </Button>
        </DialogButtons>
      </Stack>
    </Modal>
  )
}

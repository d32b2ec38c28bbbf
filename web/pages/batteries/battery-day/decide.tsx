/** Approval and rejection of a plan, each with a confirmation. */

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
  // The ETag of the plan that was shown when the dialog opened.
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
        ? `Approved. Plan ${first_broken.schedule_id} of ${first_broken.target_date} must be created again.`
        : 'Plan approved',
    changes: [bessKey(site_id)],
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title="Approve the plan">
      <Stack>
        <Text>
          The battery discharges {formatEnergy(totals.discharge_kwh)} and charges{' '}
          {formatEnergy(totals.charge_kwh)} on {schedule.target_date} (UTC). Expected revenue:{' '}
          <strong>{formatMoney(totals.expected_net_amount, totals.currency)}</strong>.
        </Text>
        {first ? (
          <Text>
            First {first.power_kw > 0 ? 'discharge' : 'charge'} at <Time at={first.start_at} /> or
            within the following hour.
            {replaced && ` Replaces the approved plan ${replaced.schedule_id}.`}
          </Text>
        ) : (
          <Text>The battery is idle in all remaining hours.</Text>
        )}
        {broken && (
          <Notice
            title={`Plan ${broken.schedule_id} of ${broken.target_date} must be created again`}
          >
            It is approved and starts at {formatNumber(broken.needs_pct)} % of charge, but this plan
            ends at {formatNumber(broken.ends_pct)} %, so it could not be carried out in full.
          </Notice>
        )}
        <Muted>
          Approval lifts no limit: cell limits, PCS limits, charge window and grid permit always
          apply.
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
    done: 'Plan rejected',
    changes: [bessKey(site_id)],
    onDone: () => {
      draft.drop()
      onClose()
    },
  })
  const submit = () => {
    const text = reason.trim()
    if (text === '') setFault('Enter a reason.')
    else reject.run(text)
  }
  return (
    <Modal opened onClose={onClose} title="Reject the plan" closeOnClickOutside={reason === ''}>
      <Stack>
        <DraftNotice {...draft} />
        <Text>An approved plan of the day stays in force. Without one the battery is idle.</Text>
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

/** The question about a device at whose address another serial number answers. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { askPlatform } from '../api.ts'
import type {
  PlatformDeviceExchange,
  PlatformDeviceExchangeAnswer,
  PlatformDeviceExchangeList,
} from '../generated/platform.ts'
import { useMayRead, usePlatform, useSite, useUser } from '../queries.ts'
import { Dialog, Problem } from './form.tsx'
import { Notice, Time } from './page.tsx'
import { useWrite } from './use-write.ts'

interface Named {
  kinds: readonly string[]
  /** Also names the parts of a battery unit, such as `1.cluster.0`. */
  device_id: string
}

const isOf = ({ kinds, device_id }: Named, one: PlatformDeviceExchange) =>
  kinds.includes(one.kind) &&
  (one.device_id === device_id || one.device_id.startsWith(`${device_id}.`))

export function DeviceExchanges(named: Named) {
  const enabled = useMayRead()('alerts:read')
  const path = '/device-exchanges'
  const { data } = usePlatform<PlatformDeviceExchangeList>('exchanges', path, 30_000, enabled)
  const own = data?.data.filter((one) => isOf(named, one)) ?? []
  return own.map((exchange) => (
    <Question key={`${exchange.kind} ${exchange.device_id}`} exchange={exchange} />
  ))
}

function Question({ exchange }: { exchange: PlatformDeviceExchange }) {
  const { site_id } = useSite()
  const { role } = useUser()
  const [is_confirming, setConfirming] = useState(false)
  const { kind, device_id, old_serial_number, serial_number } = exchange
  const report = useWrite({
    write: () => answer(site_id, exchange, 'wrong_wiring'),
    done: 'Reported as wrong wiring',
    changes: ['exchanges', 'alerts'],
  })
  return (
    <Notice title="Is this a new device in the same place?">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          Serial number {serial_number} answers in place of {old_serial_number} since{' '}
          <Time at={exchange.since_at} /> ({kind} {device_id}). The readings are stored. The energy
          counters of both devices are counted apart.
        </Text>
        {exchange.wrong_wiring_at !== null && (
          <Text size="sm">
            {exchange.wrong_wiring_by} reported wrong wiring <Time at={exchange.wrong_wiring_at} />.
            The question closes when {old_serial_number} answers again.
          </Text>
        )}
        {role !== 'viewer' && (
          <Group gap="xs">
            <Button size="sm" onClick={() => setConfirming(true)}>
              Same place, new device
            </Button>
            {exchange.wrong_wiring_at === null && (
              <Button
                size="sm"
                variant="default"
                loading={report.is_pending}
                onClick={() => report.run(undefined)}
              >
                Wrong wiring
              </Button>
            )}
          </Group>
        )}
        <Problem error={report.error} />
      </Stack>
      {is_confirming && <Confirm exchange={exchange} onClose={() => setConfirming(false)} />}
    </Notice>
  )
}

const answer = (
  site_id: string,
  { kind, device_id, serial_number }: PlatformDeviceExchange,
  given: 'same_place' | 'wrong_wiring',
) =>
  askPlatform<PlatformDeviceExchangeAnswer>('POST', '/device-exchanges/answer', {
    site_id,
    kind,
    device_id,
    serial_number,
    answer: given,
  })

function Confirm({ exchange, onClose }: { exchange: PlatformDeviceExchange; onClose: () => void }) {
  const { site_id } = useSite()
  const { old_serial_number, serial_number } = exchange
  const confirm = useWrite({
    write: () => answer(site_id, exchange, 'same_place'),
    done: ({ site_file_is_outdated }) =>
      site_file_is_outdated
        ? `New device confirmed. Change its serial_number in site.yaml to ${serial_number}.`
        : 'New device confirmed',
    changes: ['exchanges', 'alerts', 'overview', 'bess'],
    onDone: onClose,
  })
  return (
    <Dialog
      title="Same place, new device"
      action="Confirm new device"
      write={confirm}
      onAct={() => confirm.run(undefined)}
      onClose={onClose}
    >
      <Text size="sm">
        The device keeps its id and its history, and gets the serial number {serial_number}. If
        site.yaml names {old_serial_number}, change its serial_number there too.
      </Text>
    </Dialog>
  )
}

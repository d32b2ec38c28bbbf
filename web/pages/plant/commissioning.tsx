/** A site in commissioning by its edge: devices found, values arriving, what is missing. */
import { Group, List, Stack, Text } from '@mantine/core'
import type {
  PlatformCommissionedDevice,
  PlatformCommissionedQuantity,
  PlatformCommissioning,
} from '../../generated/platform.ts'
import { usePlatform } from '../../queries.ts'
import { type Words, wordBadge } from '../../ui/badges.tsx'
import { type Column, column, DataTable, wrapped } from '../../ui/data-table.tsx'
import { formatQuantity, inWords, none } from '../../ui/format.ts'
import { FigureGrid, figures, Muted, NamedFigure, Notice, Page, Time } from '../../ui/page.tsx'
import { unitOf } from '../../ui/quantities.ts'
import { Answered } from '../../ui/states.tsx'

const siteGaps = {
  edge: 'No edge was ever seen. Enrol one and start it.',
  site_file: 'No site.yaml was announced. heliograph-edge scan writes one.',
  position: 'Latitude and longitude are 0: the sun and the night cannot be computed.',
  grid_meter: 'No meter has the role grid_connection: export cannot be compared with the permit.',
  irradiance: 'No instrument measures irradiance: performance cannot be judged.',
} as const

const commStates: Words = {
  connected: ['Connected', 'teal'],
  disconnected: ['No answer', 'red'],
  unknown: ['Not seen yet', 'gray'],
}

const kinds: Readonly<Record<string, string>> = {
  logger: 'Plant controller',
  station: 'Met station',
  bess: 'Battery',
}

const isMissing = ({ value }: PlatformCommissionedQuantity) => value === null
const isComplete = ({ comm_state, quantities }: PlatformCommissionedDevice) =>
  comm_state === 'connected' && !quantities.some(isMissing)

/** Instruments have names of their own. */
const nameOf = (
  { kind }: PlatformCommissionedDevice,
  { quantity }: PlatformCommissionedQuantity,
): string =>
  kind === 'station' ? quantity : quantity === 'dc_input' ? 'DC input' : inWords(quantity)

export default function CommissioningPage() {
  const query = usePlatform<PlatformCommissioning>('commissioning', '/commissioning', 5000)
  return (
    <Page title="Commissioning">
      <Answered query={query}>{(found) => <Found {...found} />}</Answered>
    </Page>
  )
}

function Found({ edge_seen_at, missing, devices }: PlatformCommissioning) {
  const connected = devices.filter(({ comm_state }) => comm_state === 'connected')
  const complete = devices.filter(isComplete)
  const open = devices.filter((one) => !isComplete(one))
  return (
    <Stack>
      <FigureGrid>
        {figures([
          ['Edge last seen', <Time key="seen" at={edge_seen_at} />],
          ['Devices', devices.length],
          ['Connected', connected.length, null, connected.length < devices.length && 'bad'],
          ['With all quantities', complete.length],
        ])}
      </FigureGrid>
      {missing.length > 0 && (
        <Notice title="The site lacks">
          <List size="sm">
            {missing.map((gap) => (
              <List.Item key={gap}>{siteGaps[gap]}</List.Item>
            ))}
          </List>
        </Notice>
      )}
      <DataTable
        label="Devices"
        width={760}
        columns={columns}
        rows={[...open, ...complete]}
        by={({ kind, device_id }) => `${kind} ${device_id}`}
        none="No devices in site.yaml"
      />
    </Stack>
  )
}

const columns: Column<PlatformCommissionedDevice>[] = [
  wrapped('Device', ({ kind, device_id, name, manufacturer, model, serial_number }) => (
    <>
      {name}
      <Muted>
        {kinds[kind] ?? inWords(kind)} {device_id}
      </Muted>
      <Muted>{[manufacturer, model, serial_number].filter(Boolean).join(', ')}</Muted>
    </>
  )),
  column('State', ({ comm_state, error, last_ok_at }) => (
    <>
      {wordBadge(commStates, comm_state)}
      {error !== null && <Text size="sm">{error}</Text>}
      {comm_state === 'disconnected' && last_ok_at !== null && (
        <Muted>
          Last answer <Time at={last_ok_at} />
        </Muted>
      )}
    </>
  )),
  wrapped('Missing', (device) => {
    const names = device.quantities.filter(isMissing).map((one) => nameOf(device, one))
    return names.join(', ') || none
  }),
  wrapped('Values', (device) => (
    <>
      <Group gap="md">
        {device.quantities
          .filter((one) => !isMissing(one))
          .map((one) => (
            <NamedFigure
              key={one.quantity}
              size="xs"
              name={nameOf(device, one)}
              value={formatQuantity(one.value, unitOf(one.column))}
            />
          ))}
      </Group>
      {device.measured_at !== null && (
        <Muted>
          Read <Time at={device.measured_at} />
        </Muted>
      )}
    </>
  )),
]

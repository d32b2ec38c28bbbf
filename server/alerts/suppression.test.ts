import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Concerned, Finding } from './finding.ts'
import { after, contextOf, noon, useSourceSite } from './fixtures/source-site.ts'
import { alertCodes, ruleOf } from './rules.ts'
import {
  type Devices,
  readSuppression,
  type SuppressionFacts,
  suppressionBy,
} from './suppression.ts'

const sourceSite = useSourceSite()

const parents = (of: [location_id: number, parent: number | null][]) =>
  of.map(([id, location_id]) => [`location ${id}`, { logger_id: null, location_id }] as const)

const devices: Devices = new Map<string, { logger_id: number | null; location_id: number | null }>([
  ['inverter 7', { logger_id: 2, location_id: null }],
  ['inverter 8', { logger_id: 3, location_id: 5 }],
  ['battery 1', { logger_id: 2, location_id: 5 }],
  ['node ts-1', { logger_id: null, location_id: 5 }],
  ['logger 2', { logger_id: 2, location_id: 4 }],
  ['logger 3', { logger_id: 3, location_id: 6 }],
  // 6 and 7 are in each other, as no site should have it.
  ...parents([
    [4, null],
    [5, 4],
    [6, 7],
    [7, 6],
  ]),
])

const nothing: Concerned = {
  logger_id: null,
  inverter_id: null,
  string_index: null,
  bess_id: null,
  node_id: null,
  location_id: null,
}
const facts = (changes: Partial<SuppressionFacts> = {}): SuppressionFacts => ({
  is_night: false,
  works: [],
  devices,
  curtailed_loggers: new Set(),
  ...changes,
})
const finding = (changes: Partial<Finding> = {}): Finding => ({
  code: 'inverter_offline',
  source_type: 'inverter',
  source_id: '7',
  inverter_id: 7,
  since: noon,
  message: 'm',
  ...changes,
})
const string = { code: 'string_zero_current', inverter_id: 7, string_index: 3 } as const
const plant = { code: 'logger_offline', inverter_id: undefined, logger_id: 2 } as never
const door = { code: 'door_open', inverter_id: undefined, node_id: 'ts-1' } as never
const battery = { code: 'bess_offline', inverter_id: undefined, bess_id: 1 } as never

const covered: [string, Partial<Concerned>, Partial<Finding>, boolean][] = [
  ['its inverter', { inverter_id: 7 }, {}, true],
  ['another inverter', { inverter_id: 8 }, {}, false],
  ['the inverter of a string', { inverter_id: 7 }, string, true],
  ['the string', { inverter_id: 7, string_index: 3 }, string, true],
  ['another string', { inverter_id: 7, string_index: 4 }, string, false],
  ['a string of the inverter', { inverter_id: 7, string_index: 3 }, {}, false],
  ['the plant of the inverter', { logger_id: 2 }, {}, true],
  ['another plant', { logger_id: 3 }, {}, false],
  ['the plant', { logger_id: 2 }, plant, true],
  ['an inverter of the plant', { logger_id: 2, inverter_id: 7 }, plant, false],
  ['the location of its plant', { location_id: 4 }, {}, true],
  ['the location of the node', { location_id: 5 }, door, true],
  ['what that is in', { location_id: 4 }, door, true],
  ['a location within that of the plant', { location_id: 5 }, plant, false],
  ['the node', { node_id: 'ts-1' }, door, true],
  ['the battery', { bess_id: 1 }, battery, true],
  ['an inverter and the battery', { inverter_id: 7, bess_id: 1 }, battery, true],
  ['the battery and an inverter', { inverter_id: 7, bess_id: 1 }, {}, true],
  ['a string and a node', { inverter_id: 7, string_index: 3, node_id: 'ts-1' }, door, true],
  ['the plant of the battery', { logger_id: 2 }, battery, true],
  ['a location in a circle', { location_id: 4 }, { inverter_id: 9, logger_id: 3 }, false],
  ['nothing', {}, {}, false],
]

for (const [name, work, changes, expected] of covered) {
  test(`planned work at ${name} ${expected ? 'explains' : 'does not explain'} it`, () => {
    const suppression = suppressionBy(facts({ works: [{ ...nothing, ...work }] }))
    assert.equal(suppression(finding(changes)), expected ? 'maintenance' : null)
  })
}

test('planned work at what all of the site is in explains what is of the site as a whole', () => {
  const within: [number, number | null][] = [
    [4, null],
    [5, 4],
    [6, 4],
  ]
  const at = (location_id: number, tree: typeof within, of: Partial<Finding>) => {
    const works = [{ ...nothing, location_id }]
    const others = [...devices].filter(([key]) => !key.startsWith('location '))
    const placed = new Map([...others, ...parents(tree)])
    const suppression = suppressionBy(facts({ works, devices: placed }))
    return suppression({ code: 'edge_offline', since: noon, message: 'm', ...of } as Finding)
  }
  const whole = [
    { source_type: 'edge', source_id: '00000000000a' },
    { code: 'device_offline', source_type: 'meter', source_id: '5' },
    { code: 'data_gap', source_type: 'site', source_id: 'demo' },
  ] as const
  for (const of of whole) {
    assert.equal(at(4, within, of), 'maintenance')
    assert.equal(at(5, within, of), null, 'a part of the site')
    assert.equal(at(4, [...within, [7, null]], of), null, 'one of two plots')
  }
  assert.equal(at(4, within, { code: 'logger_offline', logger_id: 2 }), 'maintenance')
})

test('night and curtailment explain what their rules say, and of their plant alone', () => {
  const night = suppressionBy(facts({ is_night: true }))
  assert.equal(night(finding()), 'night')
  assert.equal(night(finding({ code: 'inverter_fault' })), null)
  const curtailed = suppressionBy(facts({ curtailed_loggers: new Set([2]) }))
  assert.equal(curtailed(finding({ code: 'inverter_underperformance' })), 'curtailment')
  assert.equal(curtailed(finding({ code: 'inverter_underperformance', inverter_id: 8 })), null)
  assert.equal(curtailed(finding()), null)
})

test('nothing is ever explained by what its rule does not name', () => {
  const all = facts({
    is_night: true,
    works: [{ ...nothing, logger_id: 2 }],
    curtailed_loggers: new Set([2]),
  })
  fc.assert(
    fc.property(fc.constantFrom(...alertCodes), fc.boolean(), (code, is_night) => {
      const reason = suppressionBy({ ...all, is_night })(finding({ code }))
      const { suppressed_by } = ruleOf(code)
      const applying = suppressed_by.filter((one) => one !== 'night' || is_night)
      assert.equal(reason, applying[0] ?? null)
    }),
  )
})

test('work is planned from its begin to its end while somebody is at it or is to be', async () => {
  const db = await sourceSite()
  const explained = async (
    work: { status: string; type?: string; from?: number; to?: number; started?: number },
    minute = 0,
  ) => {
    await db.execute('delete from work_orders')
    const at = (minutes: number | undefined) => (minutes === undefined ? null : after(minutes))
    await db.execute(
      `insert into work_orders (site_id, number, title, description, type, priority, status,
         created_by, created_at, updated_at, inverter_id, scheduled_start_at, scheduled_end_at,
         started_at)
       values ('demo', 'WO-2026-00001', 't', 'd', $1, 'normal', $2, 'k', now(), now(), 7, $3, $4, $5)`,
      [work.type ?? 'preventive', work.status, at(work.from), at(work.to), at(work.started)],
    )
    return (await readSuppression(contextOf(db, after(minute))))(finding())
  }
  const hour = { from: -60, to: 60 }
  assert.equal(await explained({ status: 'assigned', ...hour }), 'maintenance')
  assert.equal(await explained({ status: 'in_progress', ...hour, started: -50 }), 'maintenance')
  for (const status of ['on_hold', 'completed', 'approved', 'cancelled']) {
    assert.equal(await explained({ status, ...hour }), null, status)
  }
  assert.equal(await explained({ status: 'open', ...hour }), 'maintenance')
  assert.equal(await explained({ status: 'open', ...hour, type: 'emergency' }), null)
  assert.equal(await explained({ status: 'open' }), null, 'not planned')
  assert.equal(await explained({ status: 'assigned', ...hour, type: 'emergency' }), null)
  assert.equal(await explained({ status: 'assigned', from: 5, to: 60 }), null, 'too early')
  assert.equal(
    await explained({ status: 'in_progress', from: 5, to: 60, started: -1 }),
    'maintenance',
  )
  assert.equal(
    await explained({ status: 'in_progress', from: -60, to: -1, started: -50 }),
    null,
    'overdue',
  )
  assert.equal(await explained({ status: 'in_progress', started: -11 * 60 }), 'maintenance')
  assert.equal(await explained({ status: 'in_progress', started: -13 * 60 }), null, 'forgotten')
  assert.equal(await explained({ status: 'assigned' }), null, 'not planned')
})

test('night is while inverters may sleep at the site; a row counts while it is applied', async () => {
  const db = await sourceSite()
  const at = async (now: Date, code: Finding['code']) =>
    (await readSuppression(contextOf(db, now)))(finding({ code }))
  assert.equal(await at(noon, 'inverter_offline'), null)
  assert.equal(await at(new Date('2026-06-21T22:00:00Z'), 'inverter_offline'), 'night')
  await db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('demo', 'g', 'api', now());
    insert into curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw,
      applied_at)
    values ('demo', 'g', 2, '2026-06-21T09:00Z', '2026-06-21T11:00Z', 50, null)`)
  assert.equal(await at(noon, 'inverter_underperformance'), null)
  await db.execute("update curtailment_rows set applied_at = '2026-06-21T09:01Z'")
  assert.equal(await at(noon, 'inverter_underperformance'), 'curtailment')
  assert.equal(await at(after(61), 'inverter_underperformance'), null)
  await db.execute("update curtailment_rows set told_at = '2026-06-21T09:00Z'")
  assert.equal(await at(after(61), 'inverter_underperformance'), 'curtailment', 'not confirmed')
  await db.execute("update curtailment_rows set closed_at = now(), closed_reason = 'operator'")
  assert.equal(await at(after(61), 'inverter_underperformance'), null)
})

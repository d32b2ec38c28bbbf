import assert from 'node:assert/strict'
import test from 'node:test'
import { after, contextOf, noon, openAlert, useSourceSite } from '../fixtures/source-site.ts'
import { findControl, findingsOf, type JudgedRow } from './control.ts'

const sourceSite = useSourceSite()

const row = (changes: Partial<JudgedRow> = {}): JudgedRow => ({
  id: 17,
  logger_id: 2,
  status: 'active',
  created_at: after(-60),
  start_at: after(-30),
  end_at: after(60),
  reported_at: after(-1),
  release_requested_at: null,
  releasing_reason: null,
  applied_at: after(-29),
  verified_at: after(-28),
  restored_at: null,
  last_checked_at: after(-1),
  max_power_kw: 100,
  rated_power_kw: 200,
  observed_power_kw: 90,
  violation_s: 0,
  failure_code: null,
  failure_message: null,
  ...changes,
})

const unapplied = { applied_at: null, verified_at: null, observed_power_kw: null }
const over = { status: 'releasing', end_at: after(-10) } as const
const unreached = { releasing_reason: 'edge_unreachable' } as const

const cases: [string, Partial<JudgedRow>, [code: string, since_min: number] | null][] = [
  ['applied and verified', {}, null],
  ['scheduled', { status: 'scheduled', ...unapplied }, null],
  ['not applied', unapplied, ['curtailment_not_applied', -30]],
  [
    'asked after its start',
    { ...unapplied, created_at: after(-5) },
    ['curtailment_not_applied', -5],
  ],
  [
    'failed',
    { ...unapplied, status: 'failed', end_at: after(-1) },
    ['curtailment_not_applied', -30],
  ],
  ['never verified', { verified_at: null }, ['curtailment_not_verified', -29]],
  [
    'above for six minutes in all',
    { observed_power_kw: 130, violation_s: 360 },
    ['curtailment_not_verified', -7],
  ],
  ['above within the tolerance', { observed_power_kw: 100.9 }, null],
  ['above, and not heard of since', { observed_power_kw: 130, reported_at: after(-4) }, null],
  ['once above', { violation_s: 360 }, null],
  [
    'being released',
    { status: 'releasing', ...unreached, release_requested_at: after(-3) },
    ['curtailment_not_released', -3],
  ],
  ['over, and not lifted', { ...over, ...unreached }, ['curtailment_not_released', -10]],
  ['over, and lifted', { status: 'completed', restored_at: after(-9) }, null],
  ['over, and closed', { status: 'completed', restored_at: null }, null],
  ['cancelled before it was applied', { status: 'cancelled', ...unapplied }, null],
]

for (const [name, changes, expected] of cases) {
  test(`a row that is ${name}: ${expected?.[0] ?? 'nothing'}`, () => {
    const found = findingsOf(row(changes), noon)
    const told = found.map(({ finding: { code, since } }) => [
      code,
      (since.getTime() - noon.getTime()) / 60_000,
    ])
    assert.deepEqual(told, expected ? [expected] : [])
  })
}

test('a row that ended without a word of the edge may be unapplied, and may hold the plant', () => {
  const found = findingsOf(row({ ...unapplied, ...over, ...unreached }), noon)
  assert.deepEqual(
    found.map(({ finding: { code }, known_at }) => [code, known_at]),
    [
      ['curtailment_not_applied', after(-10)],
      ['curtailment_not_released', null],
    ],
  )
  assert.match(found[0]!.finding.message, /was not reported as applied until its end/)
})

test('messages say which row, why, and what was measured', () => {
  const message = (changes: Partial<JudgedRow>) =>
    findingsOf(row(changes), noon)[0]?.finding.message
  assert.equal(
    message({
      ...unapplied,
      failure_code: 'timeout',
      failure_message: 'inverter 7 does not answer',
    }),
    'Curtailment 17 of plant 2 to 100 kW is not applied: inverter 7 does not answer.',
  )
  assert.equal(
    message({ observed_power_kw: 130 }),
    'Curtailment 17 of plant 2 to 100 kW is applied, and 130 kW were measured.',
  )
  const released = { status: 'releasing', release_requested_at: after(-3) } as const
  const refused = { failure_code: 'raise_refused', failure_message: 'no permit' } as const
  const start =
    'Curtailment 17 of plant 2 has ended, and the edge has not confirmed that its limits are lifted'
  assert.equal(
    message({ ...released, ...refused, ...unreached }),
    `${start}: the edge is unreachable. The plant may still be limited.`,
  )
  assert.equal(
    message({ ...released, ...refused, releasing_reason: 'raise_refused' }),
    `${start}: no permit. The plant may still be limited.`,
  )
  const [found] = findingsOf(row({ observed_power_kw: 130 }), noon)
  assert.deepEqual([found?.finding.value, found?.finding.threshold], [130, 100])
})

test('rows of the database are judged; a failed one is told for a day, or until it was resolved', async () => {
  const db = await sourceSite()
  await db.query(`
    insert into curtailment_groups (site_id, group_id, source, created_at)
    values ('demo', 'g', 'api', '2026-06-21T09:00Z'), ('demo', 'h', 'api', '2026-06-21T09:00Z');
    insert into curtailment_rows (site_id, group_id, logger_id, row_id, start_at, end_at,
      max_power_kw, told_at, reported_at, applied_at, verified_at, last_checked_at)
    values ('demo', 'g', 2, 1, '2026-06-21T09:00Z', '2026-06-21T09:10Z', 50, null, null, null, null,
        null),
      ('demo', 'h', 2, 2, '2026-06-21T09:00Z', '2026-06-21T11:00Z', 50, '2026-06-21T09:00Z',
        '2026-06-21T09:55Z', '2026-06-21T09:01Z', null, null)`)
  const { findings, isUnknown } = await findControl(contextOf(db))
  assert.deepEqual(
    findings.map(({ code, part }) => [code, part]),
    [['curtailment_not_applied', '1']],
  )
  assert.match(findings[0]!.message, /was never applied until its end/)
  const open = (part: string) => openAlert('curtailment_not_verified', { part, logger_id: 2 })
  assert.equal(isUnknown(open('2')), true, 'the edge has not told of it for five minutes')
  assert.equal(isUnknown(open('1')), false)
  const next_day = await findControl(contextOf(db, after(1440)))
  assert.deepEqual(
    next_day.findings.map(({ part }) => part),
    ['2'],
  )
  await db.execute(
    `insert into alerts (site_id, dedup_key, code, title, message, category, severity, status,
       source_type, source_id, started_at, detected_at, last_seen_at, resolved_at, resolution,
       created_at, updated_at)
     values ('demo', 'curtailment_not_applied:logger:2:1', 'x', 't', 'm', 'c', 'major', 'resolved',
       'logger', '2', $1, $1, $1, $1, 'manual', $1, $1)`,
    [after(-5)],
  )
  assert.deepEqual((await findControl(contextOf(db))).findings, [])
})

test('a limit of the permit above what inverters deliver limits no output', async () => {
  const db = await sourceSite()
  const clampsAt = async (ac_power_kw: number) => {
    await db.query(`
      delete from inverter_latest;
      insert into inverter_latest (site_id, inverter_id, measured_at, quality, limited_by,
        power_limit_pct, ac_power_kw, received_at)
      select 'demo', 7, '2026-06-21T10:00Z', 'good', 'permit', 80,
        ${ac_power_kw} * rated_ac_power_kw, now() from inverters where inverter_id = 7`)
    return (await findControl(contextOf(db))).findings.map(({ code }) => code)
  }
  assert.deepEqual(await clampsAt(0.7), [])
  assert.deepEqual(await clampsAt(-0.001), [])
  assert.deepEqual(await clampsAt(0.79), ['permit_clamp'])
})

test('that the permit holds a plant is told, since when, and without a figure', async () => {
  const db = await sourceSite()
  await db.query(`
    insert into inverter_readings (site_id, inverter_id, measured_at, quality, limited_by,
      ac_power_kw)
    select 'demo', 7, '2026-06-21T09:50Z'::timestamptz + n * interval '30 seconds', 'good',
      case when n < 8 then 'none' else 'permit' end, 77.7
    from generate_series(0, 20) as n;
    insert into inverter_latest (site_id, inverter_id, measured_at, quality, limited_by, received_at)
    values ('demo', 7, '2026-06-21T10:00Z', 'good', 'permit', now()),
      ('demo', 8, '2026-06-21T10:00Z', 'good', 'none', now())`)
  const { findings, isUnknown } = await findControl(contextOf(db))
  assert.deepEqual(findings, [
    {
      code: 'permit_clamp',
      source_type: 'logger',
      source_id: '2',
      logger_id: 2,
      since: new Date('2026-06-21T09:53:30Z'),
      message: 'The grid permit limits the output of plant 2.',
    },
  ])
  const open = openAlert('permit_clamp', { logger_id: 2 })
  assert.equal(isUnknown(open), false)
  const silent = await findControl(contextOf(db, after(5)))
  assert.deepEqual([silent.findings, silent.isUnknown(open)], [[], true])
})

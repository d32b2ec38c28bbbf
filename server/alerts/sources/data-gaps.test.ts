import assert from 'node:assert/strict'
import { test } from 'node:test'
import { before, noon, plantNow } from '../fixtures/plant-at-noon.ts'
import { type GapNow, judgeGaps, type Outage } from './data-gaps.ts'

const gap = (changes: Partial<GapNow> = {}): GapNow => ({
  logger_id: 1,
  source_type: 'inverter',
  source_id: '7',
  cause: 'unknown',
  status: 'open',
  start_at: before(90),
  end_at: null,
  known_at: null,
  is_answering: true,
  ...changes,
})
const lost = (changes: Partial<GapNow> = {}) =>
  gap({ status: 'unrecoverable', end_at: before(30), is_answering: false, ...changes })

const judge = (
  gaps: readonly GapNow[],
  is_connected = true,
  outages: readonly Outage[] = [],
  handled_at: Record<string, Date> = {},
) =>
  judgeGaps(gaps, {
    site_id: 'demo',
    now: noon,
    length_ms_min: 1_800_000,
    is_connected,
    loggers: plantNow().loggers,
    outages,
    handledAt: (key) => handled_at[key],
  })
const said = (...gaps: GapNow[]) =>
  judge(gaps).map(({ source_type, source_id, part, message }) => [
    `${source_type} ${source_id} ${part}`,
    message,
  ])

test('readings that are missing of a device that answers are told', () => {
  assert.deepEqual(said(gap()), [
    [
      'logger 1 open_unknown',
      'Readings of inverter 7 are missing since 2026-06-21 09:30 UTC: the cause is unknown.',
    ],
  ])
})

test('what is lost of many devices for one reason is one alert of the plant or the site', () => {
  const stopped = { cause: 'agent_stopped' } as const
  const of_plant = [lost(stopped), lost({ ...stopped, source_id: '8', end_at: before(20) })]
  assert.deepEqual(said(...of_plant), [
    [
      'logger 1 unrecoverable_agent_stopped',
      'Readings of inverter 7 and inverter 8 are missing between 2026-06-21 09:30 UTC and 2026-06-21 10:40 UTC: the edge agent was stopped. They cannot be recovered.',
    ],
  ])
  const beyond = lost({ ...stopped, logger_id: 2, source_id: '9' })
  assert.deepEqual(
    said(...of_plant, beyond).map(([source]) => source),
    ['site demo unrecoverable_agent_stopped'],
  )
})

const untold: [what: string, gap: GapNow][] = [
  ['a short one', gap({ start_at: before(20) })],
  ['a short one that was lost', lost({ start_at: before(50) })],
  ['a device that is silent, which is told as such', gap({ is_answering: false })],
  ['a device that was silent', lost({ cause: 'communication' })],
  ['a device in fault', lost({ cause: 'device_fault' })],
  ['maintenance', lost({ cause: 'maintenance' })],
  ['a change of the site file', lost({ cause: 'configuration' })],
]
for (const [what, each] of untold) {
  test(`no alert of a gap: ${what}`, () => assert.deepEqual(judge([each]), []))
}

test('while the edge is silent only what is lost is told', () => {
  assert.deepEqual(judge([gap()], false), [])
  assert.equal(judge([lost()], false).length, 1)
})

test('what is lost and was seen to is told no more, what was lost since is', () => {
  const seen = { 'data_gap:logger:1:unrecoverable_unknown': before(10) }
  const known = lost({ known_at: before(20) })
  const later = lost({ source_id: '8', start_at: before(60), known_at: before(5) })
  assert.deepEqual(judge([known], true, [], seen), [])
  const [finding, ...more] = judge([known, later], true, [], seen)
  assert.deepEqual([finding?.since, more], [before(60), []])
  assert.match(finding!.message, /^Readings of inverter 8 are missing/)
  assert.equal(judge([gap()], true, [], { 'data_gap:logger:1:open_unknown': noon }).length, 1)
  assert.equal(judge([lost({ known_at: before(20), logger_id: 2 })], true, [], seen).length, 1)
})

test('of many devices three are named', () => {
  const many = ['7', '8', '9', '10', '11'].map((source_id) => lost({ source_id }))
  assert.match(
    judge(many)[0]!.message,
    /^Readings of inverter 7, inverter 8, inverter 9 and 2 more are missing between /,
  )
})

const codes = {
  edge: 'edge_offline',
  logger: 'logger_offline',
  inverter: 'inverter_offline',
  meter: 'device_offline',
  station: 'device_offline',
} as const
const outage = (changes: Partial<Outage> = {}): Outage => ({
  code: changes.part
    ? 'device_offline'
    : codes[(changes.source_type ?? 'logger') as keyof typeof codes],
  source_type: 'logger',
  source_id: '1',
  part: null,
  logger_id: 1,
  started_at: before(90),
  ended_at: before(30),
  ...changes,
})
const logger = lost({ source_type: 'logger', source_id: '1' })
const meter = lost({ source_type: 'meter', source_id: '5', logger_id: null })
const combiner = lost({ source_type: 'string', source_id: 'GAK-1' })
const edge = outage({ source_type: 'edge', source_id: '0123456789ab', logger_id: null })
const station = outage({ source_type: 'station', source_id: '4' })

const notices: [what: string, gap: GapNow, outages: Outage[], is_told: boolean][] = [
  ['its plant was silent', logger, [outage()], false],
  ['another plant was silent', logger, [outage({ logger_id: 2 })], true],
  ['the edge was silent', meter, [edge], false],
  ['the met station of the plant was silent', logger, [station], false],
  ['the met station was silent, and it is an inverter', lost(), [station], true],
  ['the meter was silent', meter, [outage({ source_type: 'meter', source_id: '5' })], false],
  ['another meter was silent', meter, [outage({ source_type: 'meter', source_id: '6' })], true],
  [
    'its combiner was silent',
    combiner,
    [outage({ source_type: 'inverter', source_id: '7', part: 'GAK-1' })],
    false,
  ],
  [
    'a combiner of the inverter was silent',
    lost(),
    [outage({ source_type: 'inverter', source_id: '7', part: 'GAK-1' })],
    true,
  ],
  ['it lasts', gap(), [outage({ ended_at: null })], false],
  ['29 minutes are untold', logger, [outage({ ended_at: before(59) })], false],
  ['30 minutes are untold', logger, [outage({ ended_at: before(60) })], true],
  [
    'one after the other',
    logger,
    [outage({ ended_at: before(60) }), { ...edge, started_at: before(61) }],
    false,
  ],
  ['it was before', logger, [outage({ started_at: before(200), ended_at: before(90) })], true],
  ['it was after', logger, [outage({ started_at: before(30), ended_at: null })], true],
]
for (const [what, each, outages, is_told] of notices) {
  test(`a gap where ${what} is ${is_told ? '' : 'not '}told`, () => {
    assert.equal(judge([each], true, outages).length, is_told ? 1 : 0)
  })
}

import assert from 'node:assert/strict'
import test from 'node:test'
import { after, contextOf, noon, openAlert, useSourceSite } from '../fixtures/source-site.ts'
import { settingsInForce } from '../settings.ts'
import { type AlertedNode, findNodes, judgeNode } from './nodes.ts'

const sourceSite = useSourceSite()

const settings = settingsInForce({})

/** Air, oil, fan current, relay of the fan, door. */
type Values = [
  air: number | null,
  oil: number | null,
  fan: number | null,
  relay: number | null,
  door: number | null,
]
const usual: Values = [30, 60, 0.8, 1, 0]

const node = (channel_values: Values | null): AlertedNode => ({
  node_id: 'ts-1',
  node_number: 1,
  name: 'TS 1',
  report_s: 60,
  channel_values,
  created_at: new Date(0),
  measured_at: noon,
  channels: [
    { channel: 'air', kind: 'temperature', label: 'Air', role: 'ambient' },
    { channel: 'oil', kind: 'temperature', label: 'Oil', warn_high_c: 80, alarm_high_c: 90 },
    { channel: 'fan', kind: 'fan_current', label: 'Fan', relay: 'k1' },
    { channel: 'k1', kind: 'relay', label: 'Relay' },
    { channel: 'door', kind: 'door', label: 'Door' },
  ],
})

const cases: [string, Partial<Record<0 | 1 | 2 | 3 | 4, number | null>>, string[]][] = [
  ['all as it should be', {}, []],
  ['air at the threshold', { 0: 50 }, ['temperature_high air major']],
  ['air between hysteresis and threshold', { 0: 49 }, ['? temperature_high air']],
  ['air unknown', { 0: null }, ['? temperature_high air']],
  ['oil at its warning', { 1: 80 }, ['temperature_high oil warning']],
  ['oil at its alarm', { 1: 90 }, ['temperature_high oil major']],
  ['a fan that draws nothing', { 2: 0 }, ['fan_failure fan major']],
  ['a fan that is off', { 2: 0, 3: 0 }, []],
  ['a fan of which nobody knows whether it is on', { 2: 0, 3: null }, ['? fan_failure fan']],
  ['a fan whose current is not known', { 2: null }, ['? fan_failure fan']],
  ['a fan that runs with its relay unknown', { 3: null }, []],
  ['an open door', { 4: 1 }, ['door_open door major']],
  ['a door that says nothing', { 4: null }, ['? door_open door']],
]

for (const [name, changes, expected] of cases) {
  test(`a node with ${name}`, () => {
    const values = usual.map((value, nth) => (nth in changes ? changes[nth as 0] : value))
    const judged = judgeNode(node(values as Values), settings)
    const told = judged.flatMap(({ code, channel, holds, severity }) => {
      if (holds === false) return []
      return holds
        ? `${code} ${channel.channel} ${severity ?? 'major'}`
        : `? ${code} ${channel.channel}`
    })
    assert.deepEqual(told, expected)
  })
}

test('a channel without a limit of its own and without a role is never too hot', () => {
  const bare = {
    ...node([200, 0, 0, 0, 0]),
    channels: [{ channel: 'x', kind: 'temperature', label: 'X' }],
  }
  assert.deepEqual(judgeNode(bare as AlertedNode, settings), [])
})

async function measured() {
  const db = await sourceSite()
  const measure = async (minute: number, values: Values) => {
    const row = [after(minute), values]
    await db.execute(`insert into node_readings values ('demo', 1, $1, 'good', $2)`, row)
    await db.execute('delete from node_latest')
    await db.execute(`insert into node_latest values ('demo', 1, $1, 'good', $2, $1)`, row)
  }
  return { db, measure }
}

test('since when each holds: from the first reading after the last that was otherwise', async () => {
  const { db, measure } = await measured()
  await measure(-10, [30, 85, 0, 0, 1])
  await measure(-8, [30, 60, 0, 1, 1])
  await measure(-6, [51, 85.5, 0, 1, null])
  await measure(-1, [52, 86, 0, 1, 1])
  await measure(0, [53.5, 86, 0, 1, 1])
  const { findings } = await findNodes(contextOf(db))
  assert.deepEqual(
    findings.map(({ code, part, since, value, threshold, unit }) => [
      code,
      part,
      (since.getTime() - noon.getTime()) / 60_000,
      value,
      threshold,
      unit,
    ]),
    [
      ['temperature_high', 'air', -6, 53.5, 50, '°C'],
      ['temperature_high', 'oil', -6, 86, 80, '°C'],
      ['fan_failure', 'fan', -8, 0, 0.1, 'A'],
      ['door_open', 'door', -10, undefined, undefined, undefined],
    ],
  )
  assert.equal(findings[0]?.message, 'Air of TS 1: 53.5 °C, the limit is 50 °C.')
})

test('a silent node is told once, and nothing else of it is known', async () => {
  const { db, measure } = await measured()
  await measure(-20, [30, 60, 0.8, 1, 1])
  const { findings, isUnknown } = await findNodes(contextOf(db))
  assert.deepEqual(
    findings.map(({ code, node_id, since }) => [code, node_id, since]),
    [['node_offline', 'ts-1', after(-20)]],
  )
  const open = (source_id: string) => openAlert('door_open', { source_type: 'node', source_id })
  assert.equal(isUnknown(open('ts-1')), true)
  assert.equal(isUnknown(open('gone')), false, 'a node that is not there any more')
})

test('behind a silent edge, or without a broker, no node is missed', async () => {
  const { db, measure } = await measured()
  await measure(-20, usual)
  const offline = openAlert('node_offline', { source_type: 'node', source_id: 'ts-1' })
  const scan = async (minute = 0) => {
    const { findings, isUnknown } = await findNodes(contextOf(db, after(minute)))
    return [findings.length, isUnknown(offline)]
  }
  assert.deepEqual(await scan(), [1, false])
  assert.deepEqual(await scan(5), [0, true])
  await db.execute(`insert into events (site_id, at, received_at, source_kind, source_id, code, edge,
    severity, message)
    values ('demo', now(), now(), 'edge', 'demo', 'mqtt_disconnected', 'rising', 'major', 'x')`)
  assert.deepEqual(await scan(), [0, true])
})

test('the cabinet of an inverter is held against the threshold of the site', async () => {
  const { db } = await measured()
  const measure = async (minute: number, c: number) => {
    await db.execute(
      `insert into inverter_readings (site_id, inverter_id, measured_at, quality,
         cabinet_temperature_c) values ('demo', 7, $1, 'good', $2)`,
      [after(minute), c],
    )
    await db.execute('delete from inverter_latest')
    await db.execute(
      `insert into inverter_latest (site_id, inverter_id, measured_at, quality,
         cabinet_temperature_c, received_at) values ('demo', 7, $1, 'good', $2, $1)`,
      [after(minute), c],
    )
  }
  const scan = async (minute = 0, cabinet_c?: number) => {
    const file = cabinet_c ? { rules: { temperature_high: { thresholds: { cabinet_c } } } } : {}
    const { findings, isUnknown } = await findNodes(contextOf(db, after(minute), file))
    const open = { source_type: 'inverter' as const, source_id: '7', part: 'cabinet' }
    const hot = findings.filter(({ code }) => code === 'temperature_high')
    return [
      hot.map(({ since, value }) => [since, value]),
      isUnknown(openAlert('temperature_high', open)),
    ]
  }
  await measure(-9, 74)
  await measure(-6, 76)
  await measure(0, 77)
  assert.deepEqual(await scan(), [[[after(-9), 77]], false])
  assert.deepEqual(await scan(0, 80), [[], false])
  assert.deepEqual(await scan(0, 78), [[], true], 'within the hysteresis')
  assert.deepEqual(await scan(5), [[], true], 'not read any more')
  assert.deepEqual(await scan(1.5), [[], true], 'read every few seconds at other sites')
  await db.execute(`update sites set inventory = inventory || '{"poll":{"inverter_s":60}}'`)
  assert.deepEqual(await scan(1.5), [[[after(-9), 77]], false], 'read each minute here')
  assert.deepEqual(await scan(1.5, 80), [[], false], 'known to be cooler')
  assert.deepEqual(await scan(4), [[], true])
})

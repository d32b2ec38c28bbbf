/** What a control centre asks, and what it is answered (IEC 60870-5-101, 7; 60870-5-5). */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { encodeAsdu } from './asdu.ts'
import { namedType } from './asdu-types.ts'
import { centreSite } from './fixtures/centre-site.ts'

/** A started connection, whose answers so far are forgotten. */
async function started(t: TestContext, options: Parameters<typeof centreSite>[1] = {}) {
  const site = await centreSite(t, options)
  const { peer, ended, connection } = site.connect()
  peer.function('start_act')
  assert.deepEqual(peer.received, ['start_con', 'M_EI_NA_1 4 0=0'])
  peer.received = []
  const answered = async (count: number) => {
    await site.until(() => peer.received.length >= count)
    // More than that would come at once.
    await site.settled()
    return peer.received.splice(0)
  }
  return { site, peer, ended, connection, answered }
}

test('an interrogation is answered with every point, without time tags', async (t) => {
  const { site, peer, answered } = await started(t)
  const at = site.plant.clock.now().getTime()
  const reading = { measured_at: at, ac_power_kw: 120.5, inverters_online: 3 }
  site.readings.set('logger 1', reading)
  peer.command('C_IC_NA_1', { value: 20 })
  assert.deepEqual(await answered(6), [
    'C_IC_NA_1 7 0=20',
    'M_ME_NC_1 20 100=120.5',
    'M_ME_NA_1 20 101=0.999969',
    'M_SP_NA_1 20 102=0',
    'M_DP_NA_1 20 103=2',
    'C_IC_NA_1 10 0=20',
  ])
  peer.command('C_IC_NA_1', { value: 22 })
  assert.deepEqual(await answered(4), [
    'C_IC_NA_1 7 0=22',
    'M_ME_NA_1 22 101=0.999969',
    'M_SP_NA_1 22 102=0',
    'C_IC_NA_1 10 0=22',
  ])
})

test('what is not known is invalid, and what is old is not topical', async (t) => {
  const { site, peer, answered } = await started(t)
  const measured_at = site.plant.clock.now().getTime() - 60_000
  peer.command('C_IC_NA_1', { value: 21 })
  assert.deepEqual((await answered(4)).slice(1, 3), [
    'M_ME_NC_1 21 100=0/80',
    'M_DP_NA_1 21 103=3/80',
  ])
  site.readings.set('logger 1', { measured_at, ac_power_kw: 8, inverters_online: 2 })
  peer.command('C_IC_NA_1', { value: 21 })
  assert.deepEqual((await answered(4)).slice(1, 3), [
    'M_ME_NC_1 21 100=8/40',
    'M_DP_NA_1 21 103=1/40',
  ])
})

test('counters are frozen and read, and never reset', async (t) => {
  const { site, peer, answered } = await started(t)
  const read = (energy_total_kwh: number) =>
    site.readings.set('logger 1', {
      measured_at: site.plant.clock.now().getTime(),
      energy_total_kwh,
    })
  read(1000)
  peer.command('C_CI_NA_1', { value: 5, descriptor: 0x40 })
  assert.deepEqual(await answered(1), ['C_CI_NA_1 7 0=5/40'])
  read(1100)
  peer.command('C_CI_NA_1', { value: 5 })
  assert.deepEqual(await answered(3), [
    'C_CI_NA_1 7 0=5',
    'M_IT_NA_1 37 104=1000',
    'C_CI_NA_1 10 0=5',
  ])
  peer.command('C_CI_NA_1', { value: 5, descriptor: 0x80 })
  assert.deepEqual(await answered(1), ['C_CI_NA_1 7- 0=5/80'])
})

test('the clock of the centre is compared, and ours is not moved', async (t) => {
  const { site, peer, answered } = await started(t)
  const now = site.plant.clock.now().getTime()
  peer.command('C_CS_NA_1', { at: now + 90_000 })
  assert.deepEqual(await answered(1), ['C_CS_NA_1 7 0=0'])
  assert.deepEqual(site.clock_offsets_ms, [90_000])
  assert.equal(site.plant.clock.now().getTime(), now)
})

test('a reset drops what is selected, and no order', async (t) => {
  const { site, peer, answered } = await started(t)
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  await answered(3)
  peer.command('C_RP_NA_1', { value: 1 })
  assert.deepEqual(await answered(2), ['C_RP_NA_1 7 0=1', 'M_EI_NA_1 4 0=2'])
  assert.equal(site.plant.controller.fromOutside('grid_operator').length, 1)
  peer.command('C_RP_NA_1', { value: 3 })
  assert.deepEqual(await answered(1), ['C_RP_NA_1 7- 0=3'])
})

const rejections: [what: string, type: string, object: object, header: object, answer: string][] = [
  ['an unknown type', 'M_SP_NA_1', { address: 100 }, {}, 'M_SP_NA_1 44- 100=0'],
  ['an unknown cause', 'C_IC_NA_1', { value: 20 }, { cause: 3 }, 'C_IC_NA_1 45- 0=20'],
  ['an unknown station', 'C_IC_NA_1', { value: 20 }, { common_address: 8 }, 'C_IC_NA_1 46- 0=20'],
  [
    'a command for all stations',
    'C_SE_NC_1',
    { address: 200, value: 5 },
    { common_address: 65_535 },
    'C_SE_NC_1 46- 200=5',
  ],
  ['an unknown point', 'C_SE_NC_1', { address: 999 }, {}, 'C_SE_NC_1 47- 999=0'],
  ['a point that is measured', 'C_SE_NC_1', { address: 100 }, {}, 'C_SE_NC_1 47- 100=0'],
  ['a command of another type', 'C_SC_NA_1', { address: 200 }, {}, 'C_SC_NA_1 47- 200=0'],
  ['an interrogation of a point', 'C_IC_NA_1', { address: 9, value: 20 }, {}, 'C_IC_NA_1 47- 9=20'],
  ['an unknown interrogation', 'C_IC_NA_1', { value: 37 }, {}, 'C_IC_NA_1 7- 0=37'],
  ['the end of no interrogation', 'C_IC_NA_1', { value: 20 }, { cause: 8 }, 'C_IC_NA_1 9- 0=20'],
  [
    'a setpoint above its range',
    'C_SE_NC_1',
    { address: 200, value: 101 },
    {},
    'C_SE_NC_1 7- 200=101',
  ],
  ['a setpoint below 0', 'C_SE_NC_1', { address: 200, value: -1 }, {}, 'C_SE_NC_1 7- 200=-1'],
  [
    'a setpoint that is no number',
    'C_SE_NC_1',
    { address: 200, value: Number.NaN },
    {},
    'C_SE_NC_1 7- 200=NaN',
  ],
  ['a step to nowhere', 'C_RC_NA_1', { address: 203, value: 3 }, {}, 'C_RC_NA_1 7- 203=3'],
  [
    'an execute without select',
    'C_SE_NC_1',
    { address: 201, value: 90 },
    {},
    'C_SE_NC_1 7- 201=90',
  ],
  ['the end of no select', 'C_SE_NC_1', { address: 201 }, { cause: 8 }, 'C_SE_NC_1 9- 201=0'],
]

for (const [what, type, object, header, answer] of rejections) {
  test(`${what} is rejected`, async (t) => {
    const { site, peer, answered, ended } = await started(t)
    peer.command(type, object, header)
    assert.deepEqual(await answered(1), [answer])
    assert.equal(site.plant.controller.fromOutside('grid_operator').length, 0)
    assert.equal(ended(), null)
  })
}

test('octets that are no ASDU close the connection', async (t) => {
  const ends: string[] = []
  for (const asdu of [
    [100, 1, 6, 0],
    [100, 1, 6, 0, 7, 0, 0, 0, 0],
  ]) {
    const { peer, ended } = await started(t)
    peer.asdu(Uint8Array.from(asdu))
    ends.push(ended() ?? '')
  }
  assert.deepEqual(ends, ['an ASDU of 4 octets', 'an ASDU that is no C_IC_NA_1'])
})

test('a setpoint is an order, confirmed once it is durable, and mirrored', async (t) => {
  const { site, peer, answered } = await started(t)
  const disk = Promise.withResolvers<void>()
  const { saveRows } = site.plant.store
  site.plant.store.saveRows = async (rows) => {
    await disk.promise
    await saveRows(rows)
  }
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  assert.deepEqual(await answered(0), [])
  disk.resolve()
  const [confirmed, ended, mirror, reduced] = await answered(4)
  assert.equal(mirror, 'M_ME_TD_1 3 101=0.299988')
  assert.equal(reduced, 'M_SP_TB_1 3 102=1')
  assert.equal(confirmed, 'C_SE_NC_1 7 200=30')
  assert.equal(ended, 'C_SE_NC_1 10 200=30')
  const [row] = site.plant.store.rows
  assert.equal(row!.row.source, 'grid_operator')
  assert.equal(row!.row.max_power_kw, 90)
  await site.advance(10_000)
  assert.deepEqual(site.plant.limits(), [30_000, 30_000, 30_000])
})

test('an order that cannot be stored is rejected', async (t) => {
  const { site, peer, answered } = await started(t)
  site.plant.store.saveRows = () => Promise.reject(new Error('no space left'))
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  assert.deepEqual(await answered(1), ['C_SE_NC_1 7- 200=30'])
  assert.match(site.errors[0]!.message, /no space left/)
})

test('a setpoint at rated power ends the order', async (t) => {
  const { site, peer, answered } = await started(t)
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  await answered(4)
  peer.command('C_SE_NC_1', { address: 200, value: 100 })
  await answered(4)
  assert.deepEqual(site.plant.controller.fromOutside('grid_operator'), [])
})

test('a command is selected before it is executed, by one centre at a time', async (t) => {
  const { site, peer, answered } = await started(t)
  const select = { address: 201, value: 90, descriptor: 0x80 }
  peer.command('C_SE_NC_1', select)
  assert.deepEqual(await answered(1), ['C_SE_NC_1 7 201=90/80'])
  peer.command('C_SE_NC_1', { address: 201, value: 100 })
  assert.deepEqual(await answered(1), ['C_SE_NC_1 7- 201=100'])
  // Ended by its centre.
  peer.command('C_SE_NC_1', select, { cause: 8 })
  assert.deepEqual(await answered(1), ['C_SE_NC_1 9 201=90/80'])
  peer.command('C_SE_NC_1', { address: 201, value: 90 })
  assert.deepEqual(await answered(1), ['C_SE_NC_1 7- 201=90'])
  // Ended by time.
  peer.command('C_SE_NC_1', select)
  await answered(1)
  await site.plant.clock.advance(10_000)
  peer.command('C_SE_NC_1', { address: 201, value: 90 })
  assert.deepEqual(await answered(1), ['C_SE_NC_1 7- 201=90'])
  peer.command('C_SE_NC_1', select)
  await answered(1)
  peer.command('C_SE_TC_1', { address: 201, value: 90, at: Date.UTC(2026, 5, 21) })
  assert.equal((await answered(2))[0], 'C_SE_TC_1 7 201=90')
  assert.equal(site.plant.controller.fromOutside('grid_operator')[0]!.max_power_kw, 90)
})

test('single commands and steps order limits too', async (t) => {
  const { site, peer, answered } = await started(t)
  const limit_kw = () => site.plant.controller.fromOutside('grid_operator')[0]?.max_power_kw ?? null
  const command = async (type: string, address: number, value: number) => {
    peer.command(type, { address, value })
    await answered(2)
    return limit_kw()
  }
  assert.equal(await command('C_SC_NA_1', 202, 1), 90)
  assert.equal(await command('C_RC_NA_1', 203, 2), 120)
  assert.equal(await command('C_RC_NA_1', 203, 1), 90)
  assert.equal(await command('C_SC_NA_1', 202, 0), null)
})

test('a test command is answered, and moves nothing', async (t) => {
  const { site, peer, answered } = await started(t)
  peer.command('C_SE_NC_1', { address: 200, value: 30 }, { is_test: true })
  assert.equal((await answered(2)).length, 2)
  peer.command('C_TS_TA_1', { value: 1234 })
  assert.deepEqual(await answered(1), ['C_TS_TA_1 7 0=1234'])
  assert.deepEqual(site.plant.controller.fromOutside('grid_operator'), [])
})

test('a command with an old time tag, or an invalid one, is rejected', async (t) => {
  const { site, peer, answered } = await started(t, { command_age_ms: 5000 })
  const now = site.plant.clock.now().getTime()
  for (const at of [now - 6000, now + 6000, null]) {
    peer.command('C_SE_TC_1', { address: 200, value: 30, at })
    assert.deepEqual(await answered(1), ['C_SE_TC_1 7- 200=30'])
  }
  peer.command('C_SE_TC_1', { address: 200, value: 30, at: now - 4000 })
  assert.equal((await answered(4))[0], 'C_SE_TC_1 7 200=30')
})

test('a command with two objects is rejected', async (t) => {
  const { peer, answered } = await started(t)
  const header = { cause: 6, is_negative: false, is_test: false, originator: 0, common_address: 7 }
  const object = { address: 200, value: 30, descriptor: 0, at: null }
  peer.asdu(encodeAsdu(namedType('C_SE_NC_1'), header, [object, object]))
  assert.deepEqual(await answered(1), ['C_SE_NC_1 7- 200=30 200=30'])
})

/** Events of a control centre over outages, restarts and redundant connections. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type CentreSite, centreSite } from './fixtures/centre-site.ts'

const power = (site: CentreSite, ac_power_kw: number) =>
  site.readings.set('logger 1', {
    measured_at: site.plant.clock.now().getTime(),
    ac_power_kw,
    inverters_online: 3,
  })

/** Power that is measured, and sampled. */
async function measure(site: CentreSite, ...powers_kw: number[]): Promise<void> {
  for (const power_kw of powers_kw) {
    power(site, power_kw)
    await site.centre.sample()
  }
}

const events = (received: readonly string[]) => received.filter((words) => / 3 /.test(words))

test('a change by more than the dead band is an event', async (t) => {
  const site = await centreSite(t)
  const { peer } = site.connect()
  peer.function('start_act')
  await measure(site, 100, 104, 105, 106, 101, 100.9)
  await site.until(() => events(peer.received).length >= 4)
  await site.settled()
  assert.deepEqual(events(peer.received), [
    // Known now, and before it was not.
    'M_ME_TF_1 3 100=100',
    'M_DP_TB_1 3 103=2',
    'M_ME_TF_1 3 100=106',
    'M_ME_TF_1 3 100=100.9',
  ])
})

test('events of an outage come with the next connection, each once and in their order', async (t) => {
  const site = await centreSite(t)
  const powers = Array.from({ length: 500 }, (_, nth) => 10 * nth)
  await measure(site, ...powers)
  const { peer } = site.connect()
  peer.function('start_act')
  const received = () => events(peer.received).filter((words) => words.includes(' 100='))
  await site.until(() => received().length >= powers.length)
  assert.deepEqual(
    received(),
    powers.map((power_kw) => `M_ME_TF_1 3 100=${power_kw}`),
  )
})

test('what a connection did not acknowledge is sent over the next one', async (t) => {
  const site = await centreSite(t)
  await measure(site, ...Array.from({ length: 40 }, (_, nth) => 10 * nth))
  const first = site.connect()
  first.peer.acknowledges = false
  first.peer.function('start_act')
  await site.until(() => first.peer.received.length >= 13)
  await site.settled()
  // k = 12 I frames, the initialisation among them.
  assert.equal(first.peer.received.length, 13)
  first.peer.acknowledge()
  await site.until(() => first.peer.received.length >= 25)
  first.connection.close('the cable is cut')
  const second = site.connect()
  second.peer.function('start_act')
  const acknowledged = events(first.peer.received.slice(0, 13))
  const powers = () =>
    [...acknowledged, ...events(second.peer.received)].filter((words) => words.includes(' 100='))
  await site.until(() => powers().length >= 40)
  await site.settled()
  assert.deepEqual(
    powers(),
    Array.from({ length: 40 }, (_, nth) => `M_ME_TF_1 3 100=${10 * nth}`),
  )
})

test('a program that is killed loses no event and repeats none that was acknowledged', async (t) => {
  const site = await centreSite(t)
  const { peer } = site.connect()
  peer.function('start_act')
  await measure(site, 10, 20, 30)
  await site.until(() => events(peer.received).length >= 4)
  await site.plant.clock.advance(1000)
  // Two of them are on disk, and reach nobody.
  peer.acknowledges = false
  await measure(site, 40, 50)
  // Whatever was acknowledged is written down in the background.
  await site.settled()
  await site.restart()
  const next = site.connect()
  next.peer.function('start_act')
  power(site, 50)
  await site.centre.sample()
  await measure(site, 60)
  await site.until(() => events(next.peer.received).length >= 3)
  await site.settled()
  assert.deepEqual(events(next.peer.received), [
    'M_ME_TF_1 3 100=40',
    'M_ME_TF_1 3 100=50',
    'M_ME_TF_1 3 100=60',
  ])
})

test('a change while the program is down is an event', async (t) => {
  const site = await centreSite(t)
  await measure(site, 10)
  await site.restart()
  await measure(site, 90)
  const { peer } = site.connect()
  peer.function('start_act')
  await site.until(() => events(peer.received).length >= 3)
  assert.equal(events(peer.received).at(-1), 'M_ME_TF_1 3 100=90')
})

test('one connection of a group carries data', async (t) => {
  const site = await centreSite(t)
  const first = site.connect()
  const second = site.connect()
  first.peer.function('start_act')
  second.peer.function('test_act')
  assert.deepEqual(second.peer.received, ['test_con'])
  second.peer.function('start_act')
  assert.equal(first.ended(), 'another connection of its group was started')
  assert.equal(second.ended(), null)
  await measure(site, 10)
  await site.until(() => second.peer.received.length >= 4)
  assert.equal(events(first.peer.received).length, 0)
  // The station was initialised once.
  assert.ok(!second.peer.received.some((words) => words.startsWith('M_EI')))
})

test('a stopped connection gets no event, and those that were taken come after the next start', async (t) => {
  const site = await centreSite(t)
  const { peer } = site.connect()
  peer.function('start_act')
  peer.acknowledge()
  peer.function('stop_act')
  await measure(site, 10, 20)
  assert.deepEqual(events(peer.received), [])
  peer.function('start_act')
  await site.until(() => events(peer.received).length >= 3)
  await site.settled()
  assert.deepEqual(events(peer.received), [
    'M_ME_TF_1 3 100=10',
    'M_DP_TB_1 3 103=2',
    'M_ME_TF_1 3 100=20',
  ])
})

test('after a silence the order falls to what the site file says, until its centre orders anew', async (t) => {
  const fallback = { after_s: 60, limit_pct: 60 }
  const site = await centreSite(t, { centre: { fallback } })
  const limits = () =>
    site.plant.controller.fromOutside('grid_operator').map((row) => row.max_power_kw)
  const { peer, connection } = site.connect()
  peer.function('start_act')
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  await site.until(() => peer.received.length >= 4)
  await site.advance(120_000)
  assert.deepEqual(limits(), [90])
  connection.close('the cable is cut')
  await site.advance(59_000)
  assert.deepEqual(limits(), [90])
  await site.advance(2000)
  assert.deepEqual(limits(), [180])
  const next = site.connect()
  next.peer.function('start_act')
  await site.advance(10_000)
  assert.deepEqual(limits(), [180])
  next.peer.command('C_SE_NC_1', { address: 200, value: 100 })
  await site.until(() => limits().length === 0)
})

test('without a fall-back the last order holds', async (t) => {
  const site = await centreSite(t)
  const { peer, connection } = site.connect()
  peer.function('start_act')
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  await site.until(() => peer.received.length >= 4)
  connection.close('the cable is cut')
  await site.advance(600_000)
  assert.equal(site.plant.controller.fromOutside('grid_operator')[0]!.max_power_kw, 90)
})

test('a background scan sends all measured values', async (t) => {
  const site = await centreSite(t)
  const { peer } = site.connect()
  site.centre.sendBackground()
  assert.equal(peer.received.length, 0)
  peer.function('start_act')
  site.centre.sendBackground()
  const scan: string[] = peer.received.slice(2)
  assert.deepEqual(
    scan.map((words) => words.slice(0, 11)),
    ['M_ME_NC_1 2', 'M_ME_NA_1 2', 'M_SP_NA_1 2', 'M_DP_NA_1 2'],
  )
})

test('addresses and networks of a centre may connect, and no others', async (t) => {
  const allowed_addresses = ['192.0.2.7', '198.51.100.0/24', '2001:db8::/32']
  const { centre } = await centreSite(t, { centre: { allowed_addresses } })
  const tried = ['192.0.2.7', '198.51.100.200', '2001:db8::9', '192.0.2.8', '127.0.0.1', '']
  assert.deepEqual(
    tried.map((address) => address !== '' && centre.allows(address)),
    [true, true, true, false, false, false],
  )
})

test('a direct marketer orders under its own name', async (t) => {
  const site = await centreSite(t, { centre: { source: 'direct_marketer' } })
  const { peer } = site.connect()
  peer.function('start_act')
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  await site.until(() => peer.received.length >= 4)
  assert.equal(site.plant.controller.fromOutside('direct_marketer').length, 1)
  assert.equal(site.plant.controller.fromOutside('grid_operator').length, 0)
})

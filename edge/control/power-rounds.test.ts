import assert from 'node:assert/strict'
import test from 'node:test'
import { controlledSite, start_at } from '../fixtures/controlled-site.ts'
import { PowerRounds, type PowerSource } from './power-rounds.ts'
import { Proof } from './proof.ts'

const wanted: PowerSource[] = ['device 1', 'device 2']

test('a round is whole when each source answered in it, whatever came between', () => {
  const rounds = new PowerRounds()
  rounds.onPower('device 1', 100, { round_at: 5000, now_ms: 100 })
  assert.equal(rounds.take(wanted, 1000), null)
  rounds.onPower('device 2', 40, { round_at: 5000, now_ms: 2000 })
  const round = rounds.take(wanted, 3000)
  assert.deepEqual(
    [round?.round_at, [...round!.power_w]],
    [
      5000,
      [
        ['device 1', 100],
        ['device 2', 40],
      ],
    ],
  )
  assert.equal(rounds.take(wanted, 3000), null)
})

test('a round that is over has what was measured in it, and nothing that came later', () => {
  const rounds = new PowerRounds()
  rounds.onPower('device 1', 100, { round_at: 5000, now_ms: 100 })
  rounds.onPower('device 1', 90, { round_at: 10_000, now_ms: 5100 })
  rounds.onPower('device 2', 40, { round_at: 5000, now_ms: 5200 })
  const over = rounds.take(wanted, 5200)
  assert.deepEqual([over?.round_at, [...over!.power_w]], [5000, [['device 1', 100]]])
  rounds.onPower('device 2', 30, { round_at: 5000, now_ms: 5300 })
  rounds.onPower('device 2', 50, { round_at: 10_000, now_ms: 5400 })
  const next = rounds.take(wanted, 5500)
  assert.deepEqual([next?.round_at, next?.power_w.get('device 2')], [10_000, 50])
})

test('intervals that differ have the rounds in which all are polled', () => {
  const rounds = new PowerRounds()
  const batteries = [{}] as never
  rounds.apply({ poll: { inverter_s: 5, meter_s: 1, battery_s: 2 }, meters: [], batteries })
  const all: PowerSource[] = ['device 1', 'pcs 1.0']
  for (let at = 0; at < 10_000; at += 1000) {
    if (at % 5000 === 0) rounds.onPower('device 1', at, { round_at: at, now_ms: at })
    if (at % 2000 === 0) rounds.onPower('pcs 1.0', at, { round_at: at, now_ms: at })
  }
  const round = rounds.take(all, 10_000)
  assert.deepEqual([...round!.power_w.values()], [0, 0])
  assert.equal(rounds.take(all, 10_000), null)
})

test('a clock that was set back begins rounds anew', () => {
  const rounds = new PowerRounds()
  rounds.onPower('device 1', 1, { round_at: 7_200_000, now_ms: 0 })
  assert.ok(rounds.take(['device 1'], 0))
  rounds.onPower('device 1', 2, { round_at: 3_600_000, now_ms: 5000 })
  assert.equal(rounds.take(['device 1'], 5000)?.power_w.get('device 1'), 2)
})

/** Two inverters that trade 80 kW at each poll round: together always 120 kW. */
async function tradingSite(options: { is_late?: boolean } = {}) {
  const site = await controlledSite({
    count: 2,
    permit_w: 150_000,
    prepare(inverter) {
      inverter.obeys = false
      inverter.first_poll_ms = inverter.inverter_id === 1 ? 100 : 2500
    },
  })
  const [one, other] = site.inverters
  for (let round = 0; round < 24; round += 1) {
    one!.available_w = round % 2 === 0 ? 100_000 : 20_000
    other!.available_w = round % 2 === 0 ? 20_000 : 100_000
    other!.is_silent = options.is_late === true && round % 4 === 1
    await site.clock.advance(5000)
  }
  const to_at = site.clock.now().getTime()
  const proof = new Proof({ from_at: start_at, to_at }, to_at)
  for (const entry of site.entries) proof.take(entry)
  return { entries: site.entries, verdict: proof.end() }
}

test('power that devices trade between two polls is no excess', async () => {
  const { verdict, entries } = await tradingSite()
  assert.deepEqual(verdict.overpowers, [])
  assert.deepEqual(verdict.possible_excesses, [])
  const powers = entries.flatMap((entry) => (entry.is === 'round' ? entry.plants : []))
  assert.ok(powers.length > 0)
  assert.deepEqual([...new Set(powers.map(({ power_w }) => power_w))], [120_000])
})

test('a poll round with a silent device proves what was measured, and no more', async () => {
  const { verdict, entries } = await tradingSite({ is_late: true })
  assert.deepEqual(verdict.overpowers, [])
  const incomplete = entries
    .flatMap((entry) => (entry.is === 'round' ? entry.plants : []))
    .filter(({ at_most_w }) => at_most_w !== undefined)
  assert.ok(incomplete.length > 0)
  for (const { power_w, at_most_w } of incomplete) {
    assert.equal(power_w, 20_000)
    assert.ok(at_most_w! > 20_000 && at_most_w! <= 120_000, String(at_most_w))
  }
})

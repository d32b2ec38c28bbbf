import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { virtualClock } from './fixtures/virtual-clock.ts'
import { type ClockChange, PlantClock, type Stamp } from './plant-clock.ts'

const minute = 60_000
const hour = 60 * minute

function plantClock(start = '2026-06-01T10:00:00Z') {
  const wall = virtualClock(start)
  const clock = new PlantClock({ clock: wall, stopwatch: wall })
  const changes: ClockChange[] = []
  clock.onChange((change) => changes.push(change))
  /** A stamp each second for so long. */
  async function run(ms: number): Promise<Stamp[]> {
    const stamps: Stamp[] = []
    for (let passed = 0; passed < ms; passed += 1000) {
      await wall.advance(1000)
      stamps.push(clock.stamp())
    }
    return stamps
  }
  const aheadMs = () => clock.stamp().measured_at - wall.now().getTime()
  const told = () =>
    changes.map((change) => (change.is === 'jump' ? change.jump_ms : change.is_trusted))
  return { wall, clock, changes, run, aheadMs, told }
}

const areRising = (stamps: readonly Stamp[]) =>
  stamps.every(({ measured_at }, i) => i === 0 || measured_at > stamps[i - 1]!.measured_at)
const qualities = (stamps: readonly Stamp[]) => [...new Set(stamps.map(({ quality }) => quality))]

test('a clock that nobody sets is followed, and steps of up to 2 s say nothing', async () => {
  const { wall, run, aheadMs, told } = plantClock()
  const stamps = await run(minute)
  for (const step_ms of [2000, -2000, 700, -700]) {
    wall.step(step_ms)
    stamps.push(...(await run(minute)))
    assert.equal(aheadMs(), 0)
  }
  assert.ok(areRising(stamps))
  assert.deepEqual(qualities(stamps), ['good'])
  assert.deepEqual(told(), [])
})

test('after a step back stamps go on more slowly, suspect, until the clock has caught up', async () => {
  const { wall, run, aheadMs, told } = plantClock()
  const before = await run(minute)
  wall.step(-10 * minute)
  const during = await run(19 * minute)
  assert.ok(areRising([...before, ...during]))
  assert.deepEqual(qualities(during), ['suspect'])
  assert.ok(aheadMs() > 0 && aheadMs() < minute)
  assert.deepEqual(told(), [-10 * minute, false])
  const after = await run(2 * minute)
  assert.equal(aheadMs(), 0)
  assert.equal(after.at(-1)?.quality, 'good')
  assert.deepEqual(told().slice(2), [true])
})

test('after a step forward stamps follow, suspect, until the server confirms the time', async () => {
  const { wall, clock, run, aheadMs, told } = plantClock()
  await run(minute)
  wall.step(hour)
  assert.deepEqual(qualities(await run(3 * hour)), ['suspect'])
  assert.equal(aheadMs(), 0)
  const wrong = clock.askServer()
  wrong(wall.now().getTime() - hour)
  assert.deepEqual(qualities(await run(minute)), ['suspect'], 'the server has another time')
  const right = clock.askServer()
  // The answer is 5 s old: the clock lies between.
  const server_time = wall.now().getTime() + 1000
  await wall.advance(5000)
  right(server_time)
  assert.deepEqual(qualities(await run(minute)), ['good'])
  assert.deepEqual(told(), [hour, false, true])
})

test('a clock that is wrong from the start is not trusted once the server tells its time', async () => {
  for (const ahead_ms of [50 * minute, -50 * minute]) {
    const { wall, clock, run, told } = plantClock()
    assert.deepEqual(qualities(await run(minute)), ['good'], 'nothing else is known')
    clock.askServer()(wall.now().getTime() - ahead_ms)
    assert.deepEqual(qualities(await run(minute)), ['suspect'])
    wall.step(-ahead_ms / 2)
    assert.deepEqual(qualities(await run(2 * hour)), ['suspect'], 'half right is wrong')
    wall.step(-ahead_ms / 2)
    assert.equal((await run(2 * hour)).at(-1)?.quality, 'good')
    assert.deepEqual(told(), [false, -ahead_ms / 2, -ahead_ms / 2, true])
  }
})

test('a clock that drifts is doubted only for more than 5 s', async () => {
  const { wall, clock, run, told } = plantClock()
  for (const ahead_ms of [4900, -4900]) {
    clock.askServer()(wall.now().getTime() - ahead_ms)
    assert.deepEqual(qualities(await run(minute)), ['good'])
  }
  clock.askServer()(wall.now().getTime() - 5100)
  assert.deepEqual(qualities(await run(minute)), ['suspect'])
  clock.askServer()(wall.now().getTime() - 1900)
  assert.deepEqual(qualities(await run(minute)), ['good'])
  assert.deepEqual(told(), [false, true])
})

test('a clock that drifts away on a link that stays up is doubted, and the server goes on', async () => {
  const { wall, clock, run, told } = plantClock()
  assert.equal(clock.serverNow(), null)
  const told_at = wall.now().getTime()
  const tell = clock.askServer()
  await wall.advance(200)
  tell(told_at)
  for (let nth = 0; nth < 4; nth += 1) {
    wall.step(1900)
    await run(minute)
  }
  assert.deepEqual(told(), [false])
  assert.deepEqual(clock.serverNow(), { at: told_at + 4 * minute, error_ms: 200 + 24 })
})

test('what the server told before the jump tells at once which time is right', async () => {
  const { wall, clock, run, changes } = plantClock()
  // The clock is an hour behind until it is set.
  clock.askServer()(wall.now().getTime() + hour)
  await run(hour)
  wall.step(hour)
  assert.deepEqual(qualities(await run(minute)), ['good'])
  wall.step(5 * minute)
  assert.deepEqual(qualities(await run(minute)), ['suspect'])
  assert.deepEqual(
    changes.map((change) =>
      change.is === 'jump' ? [change.jump_ms, change.is_confirmed] : change.is_trusted,
    ),
    [false, [hour, true], true, [5 * minute, false], false],
  )
})

test('a clock that is set far back is followed, and no stamp comes twice', async () => {
  const { wall, clock, run, aheadMs, told } = plantClock()
  const day = 24 * hour
  wall.step(day)
  const wrong = await run(10 * minute)
  wall.step(-day)
  const right = await run(10 * minute)
  assert.ok(Math.abs(aheadMs()) < 10)
  assert.deepEqual(qualities(right), ['suspect'])
  clock.askServer()(wall.now().getTime())
  assert.deepEqual(qualities(await run(minute)), ['good'])
  // The day after, the clock passes the instants that were stamped wrongly.
  wall.step(day - 22 * minute)
  const again = await run(20 * minute)
  const all = [...wrong, ...right, ...again].map(({ measured_at }) => measured_at)
  assert.ok(again.at(-1)!.measured_at > wrong.at(-1)!.measured_at)
  assert.equal(new Set(all).size, all.length)
  assert.deepEqual(told().slice(0, 4), [day, false, -day, true])
})

test('a restart with a clock that is behind, or that was not trusted, is noticed', async () => {
  const first = plantClock()
  const newest_at = (await first.run(minute)).at(-1)!.measured_at
  for (const [behind_ms, changes] of [
    [10 * minute, [-10 * minute, false]],
    [5 * hour, [-5 * hour, false]],
    [1000, []],
  ] as const) {
    const { clock, run, told } = plantClock(new Date(newest_at - behind_ms).toISOString())
    clock.resume({ newest_at, is_trusted: true })
    const stamp = clock.stamp()
    assert.equal(stamp.quality, changes.length > 0 ? 'suspect' : 'good')
    assert.ok(areRising([stamp, ...(await run(minute))]))
    assert.deepEqual(told(), changes)
  }
  const doubtful = plantClock(new Date(newest_at + minute).toISOString())
  doubtful.clock.resume({ newest_at, is_trusted: false })
  assert.deepEqual(qualities(await doubtful.run(minute)), ['suspect'])
  doubtful.clock.askServer()(doubtful.wall.now().getTime())
  assert.deepEqual(qualities(await doubtful.run(minute)), ['good'])
  assert.deepEqual(doubtful.told(), [true])
})

test('however the clock is set, no instant is stamped twice', () => {
  const step = fc.oneof(
    fc.integer({ min: -5000, max: 5000 }),
    fc.integer({ min: -2 * hour, max: 2 * hour }),
    fc.constantFrom(-1000, -20, 0),
  )
  const turns = fc.array(fc.tuple(step, fc.integer({ min: 20, max: 5000 })), { maxLength: 40 })
  fc.assert(
    fc.property(turns, (history) => {
      let wall_ms = Date.UTC(2026, 5, 1)
      let elapsed_ms = 0
      const clock = new PlantClock({
        clock: { now: () => new Date(wall_ms) },
        stopwatch: { elapsedMs: () => elapsed_ms },
      })
      const seen = new Set<number>()
      let set_back = 0
      for (const [step_ms, passed_ms] of history) {
        // Far back at most nine times: that many the stamps can tell apart.
        if (step_ms < -5000) set_back += 1
        wall_ms += step_ms < -5000 && set_back > 9 ? passed_ms : step_ms + passed_ms
        elapsed_ms += passed_ms
        const { measured_at } = clock.stamp()
        assert.ok(!seen.has(measured_at), `${measured_at} twice`)
        assert.equal(clock.stamp().measured_at, measured_at, 'and no time is no progress')
        seen.add(measured_at)
      }
    }),
  )
})

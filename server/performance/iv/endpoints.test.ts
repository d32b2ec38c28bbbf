import assert from 'node:assert/strict'
import test from 'node:test'
import { addReading, type Reply, type ServedSite, servedSite } from '../../fixtures/served-site.ts'
import { expectedCurrentAtVoltage, expectedString } from '../diagnostics/expected-string.ts'

const panel = {
  power_stc_w: 454.84,
  alpha_sc_a_per_c: 0.0044,
  a_ref_v: 1.8,
  i_l_ref_a: 11.58,
  i_o_ref_a: 1e-11,
  r_s_ohm: 0.24,
  r_sh_ref_ohm: 373,
  adjust_pct: 3.2,
}
const conditions = { effective_irradiance_w_m2: 900, cell_temperature_c: 45 + (3 * 900) / 1000 }
const sound = expectedString({ module: panel, module_count: 22 }, conditions)
const [i_mp_a, v_mp_v] = [sound.expected_i_mp_a, sound.expected_v_mp_v]

const path = '/iv/strings/1/0/expected'

/** What a reference cell in the plane of the strings and a thermometer behind them say. */
const instruments = [
  ['G', 'reference_cell', 'poa_irradiance_w_m2'],
  ['T', 'module_thermometer', 'module_temperature_c'],
].map(([sensor_id, type, quantity]) => ({
  sensor_id,
  name: sensor_id,
  type,
  quantity,
  point: '302[0].POAI',
  azimuth_deg: 180,
  tilt_deg: 25,
}))

async function addStation({ db }: ServedSite): Promise<void> {
  await db.execute(
    `insert into stations (site_id, station_id, logger_id, name, instruments, created_at,
       updated_at)
     values ('demo', 1, 1, 'Mast', $1, now(), now())`,
    [JSON.stringify(instruments)],
  )
}

interface Instant {
  at: string
  current_a: (number | null)[]
  voltage_v?: number
  /** null: nothing heard of the station. */
  weather?: [irradiance_w_m2: number, module_c: number] | null
  inverter?: { ac_power_kw?: number; power_limit_pct?: number; state?: string }
}

const clear: [number, number] = [900, 45]

async function add({ db }: ServedSite, instant: Instant): Promise<void> {
  const { at: measured_at, current_a, voltage_v = v_mp_v, weather = clear, inverter } = instant
  const voltages = current_a.map(() => voltage_v)
  const string = { inverter_id: 1, first_string_index: 0, measured_at, current_a }
  await addReading(db, 'string', { ...string, voltage_v: voltages })
  if (weather) {
    const values = { station_id: 1, measured_at, instrument_values: weather }
    await addReading(db, 'weather', values)
  }
  const running = { state: 'mppt', ac_power_kw: 60, ...inverter }
  await addReading(db, 'inverter', { inverter_id: 1, measured_at, ...running })
}

const near = (actual: number, expected: number, within: number) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not near ${expected}`)

const reasonOf = ({ status, body }: Reply) => {
  assert.equal(status, 200)
  assert.deepEqual([body.data, body.meta.count, body.meta.diagnosis], [[], 0, null])
  return body.meta.reason
}

test('expected against measured', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get, clock } = site
  const data = async (query = '') => (await get(`${path}${query}`)).body.data as Row[]
  const at = (minute: number) => new Date(Date.UTC(2026, 5, 21, 9, minute)).toISOString()

  await t.test('without what it takes there is no guess', async () => {
    assert.equal(reasonOf(await get(path)), 'no_irradiance')
    await addStation(site)
    const { body } = await get(path)
    assert.deepEqual([body.meta.reason, body.meta.diagnosis_reason], [null, 'insufficient_data'])
  })

  await t.test('a sound string gives what is expected', async () => {
    await add(site, { at: at(0), current_a: [i_mp_a, 0.9 * i_mp_a, null, 1] })
    const [point] = await data()
    assert.equal(point!['measured_at'], at(0))
    assert.deepEqual([point!['poa_irradiance_w_m2'], point!['cell_temperature_c']], [900, 47.7])
    near(point!['expected_p_mp_kw'], sound.expected_p_mp_kw, 1e-4)
    near(point!['expected_i_sc_a'], sound.expected_i_sc_a, 1e-4)
    near(point!['expected_v_oc_v'], sound.expected_v_oc_v, 1e-4)
    for (const name of ['current', 'voltage', 'power']) {
      near(point![`${name}_deviation_pct`], 0, 0.01)
    }
    near(point!['current_deviation_at_voltage_pct'], 0, 0.01)
    assert.deepEqual([point!['flags'], point!['curtailed']], [[], false])
    const [weak] = (await get('/iv/strings/1/1/expected')).body.data
    near(weak.current_deviation_pct, -10, 0.01)
    near(weak.power_deviation_pct, -10, 0.01)
    const [missing] = (await get('/iv/strings/1/2/expected')).body.data
    assert.deepEqual([missing.flags, missing.measured_power_kw], [['missing'], null])
  })

  await t.test('while curtailed only the comparison at the measured voltage holds', async () => {
    const voltage_v = v_mp_v + 0.4 * (sound.expected_v_oc_v - v_mp_v)
    const inverter = { ac_power_kw: 30, power_limit_pct: 30 }
    await add(site, { at: at(5), current_a: [6, 6, 6, 6], voltage_v, inverter })
    const point = (await data())[1]!
    assert.deepEqual([point['curtailed'], point['flags']], [true, ['curtailed']])
    assert.deepEqual([point['current_deviation_pct'], point['power_deviation_pct']], [null, null])
    near(
      point['current_deviation_at_voltage_pct'],
      100 * (6 / Number(point['expected_current_at_voltage_a']) - 1),
      0.01,
    )
  })

  await t.test('at its rating the inverter clips, in the light of all its strings', async () => {
    await db.execute('update inverters set rated_ac_power_kw = 30 where inverter_id = 1')
    const current_a = [i_mp_a, i_mp_a, i_mp_a, i_mp_a]
    await add(site, { at: at(10), current_a, inverter: { ac_power_kw: 30 } })
    const dim: [number, number] = [700, 45]
    await add(site, { at: at(15), current_a, weather: dim, inverter: { ac_power_kw: 30 } })
    const flags = (await data(`?start=${at(10)}`)).map((point) => point['flags'])
    assert.deepEqual(flags, [['clipped'], []])
    await db.execute('update inverters set rated_ac_power_kw = 100 where inverter_id = 1')
  })

  await t.test('an inverter that feeds nothing says nothing of its strings', async () => {
    const inverter = { ac_power_kw: 0, state: 'fault' }
    await add(site, { at: at(20), current_a: [0, 0, 0, 0], voltage_v: 0, inverter })
    const [point] = await data(`?start=${at(20)}`)
    assert.deepEqual(point!['flags'], ['inverter_off'])
    assert.equal(point!['current_deviation_at_voltage_pct'], null)
    near(point!['expected_p_mp_kw'], sound.expected_p_mp_kw, 1e-4)
  })

  await t.test('a reading of the station further off than 150 s is none', async () => {
    await add(site, { at: at(30), current_a: [9, 9, 9, 9], weather: null })
    const [point] = await data(`?start=${at(30)}`)
    assert.deepEqual(point!['flags'], ['no_irradiance'])
    assert.deepEqual([point!['poa_irradiance_w_m2'], point!['expected_i_mp_a']], [null, null])
    assert.equal(point!['measured_current_a'], 9)
  })

  await t.test('at night nothing is expected, with a station and without', async () => {
    const night = { current_a: [0, 0, 0, 0], voltage_v: 1, inverter: { ac_power_kw: 0 } }
    await add(site, { at: '2026-06-20T22:00:00.000Z', ...night, weather: [-2, 12] })
    await add(site, { at: '2026-06-20T22:10:00.000Z', ...night, weather: null })
    const points = await data('?end=2026-06-20T23:00:00Z')
    assert.deepEqual(
      points.map((point) => [point['expected_p_mp_kw'], point['power_deviation_pct']]),
      [
        [0, null],
        [0, null],
      ],
    )
    assert.deepEqual(
      points.map((point) => point['flags']),
      [['night'], ['night']],
    )
  })

  await t.test('pages go on forwards and backwards', async () => {
    const first = await get(`${path}?start=2026-06-20T00:00:00Z&limit=3`)
    assert.deepEqual([first.body.data.length, first.body.meta.count], [3, 8])
    assert.equal(first.body.meta.next_start, new Date(Date.parse(at(0)) + 1).toISOString())
    const next = await data(`?start=${first.body.meta.next_start}`)
    assert.equal(next.length, 5)
    const newest = await get(`${path}?limit=2`)
    assert.deepEqual(
      newest.body.data.map((point: Row) => point['measured_at']),
      [at(20), at(30)],
    )
    assert.equal(newest.body.meta.previous_end, at(20))
    assert.equal((await data(`?end=${at(20)}&limit=1`))[0]!['measured_at'], at(15))
  })

  await t.test('steps have their first reading, and pages of them go on as well', async () => {
    const steps = async (query: string) => {
      const { body } = await get(`${path}?every=900s${query}`)
      return { ...body.meta, times: body.data.map((point: Row) => point['measured_at']) }
    }
    const from = '&start=2026-06-20T00:00:00Z'
    const night = '2026-06-20T22:00:00.000Z'
    const whole = await steps(from)
    assert.deepEqual(whole.times, [night, at(0), at(15), at(30)])
    assert.equal(whole.count, 4)
    const first = await steps(`${from}&limit=2`)
    assert.deepEqual([first.times, first.count], [[night, at(0)], 4])
    assert.deepEqual((await steps(`&start=${first.next_start}`)).times, [at(15), at(30)])
    const newest = await steps('&limit=2')
    assert.deepEqual([newest.times, newest.previous_end], [[at(15), at(30)], at(15)])
    assert.deepEqual((await steps(`&end=${at(15)}&limit=1`)).times, [at(0)])
    const file = await site.file(`${path}?every=900s${from}`, 'application/x-ndjson')
    const lines = file.trim().split('\n')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).measured_at),
      whole.times,
    )
  })

  await t.test('windows of the future, of less than a sample and of local time', async () => {
    const count = async (query: string) => (await get(`${path}?${query}`)).body.meta.count
    assert.equal(await count('start=2027-01-01T00:00:00Z'), 0)
    assert.equal(await count('start=2027-01-01T00:00:00Z&end=2027-01-02T00:00:00Z'), 0)
    assert.equal(await count(`start=${at(1)}&end=${at(2)}`), 0)
    // The night in which clocks at the site go forward: an hour is an hour of UTC.
    clock.set('2026-03-29T12:00:00Z')
    for (const measured_at of ['2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z']) {
      await add(site, { at: measured_at, current_a: [0], voltage_v: 1, weather: null })
    }
    assert.equal(
      await count('start=2026-03-29T01:00:00%2B01:00&end=2026-03-29T03:00:00%2B02:00'),
      1,
    )
    assert.equal(await count('start=2026-03-29T02:00:00%2B01:00'), 1)
    clock.set('2026-06-21T10:00:00Z')
  })

  await t.test('strings of a combiner, a retired one too, by the station of the site', async () => {
    await db.execute("update stations set logger_id = 2 where site_id = 'demo'")
    await db.execute(`update strings set retired_at = now()
      where inverter_id = 2 and string_index = 3`)
    // Partners of one MPPT that two combiners measure.
    await db.execute('update strings set mppt_index = 0 where inverter_id = 2')
    const reading = { inverter_id: 2, measured_at: at(40), voltage_v: [v_mp_v, v_mp_v] }
    const add = (first_string_index: number, current_a: number[]) =>
      addReading(db, 'string', { ...reading, first_string_index, current_a })
    await add(0, [1, 2])
    await add(2, [3, i_mp_a])
    await addReading(db, 'weather', {
      station_id: 1,
      measured_at: at(41),
      instrument_values: clear,
    })
    const currents = [0, 1, 2, 3].map(async (index) => {
      const { body } = await get(`/iv/strings/2/${index}/expected`)
      assert.equal(body.meta.count, 1)
      return body.data[0].measured_current_a
    })
    const [first, second, third, retired] = await Promise.all(currents)
    assert.deepEqual([first, second, third], [1, 2, 3])
    near(retired, i_mp_a, 1e-4)
    const { body } = await get('/iv/strings/2/3/expected')
    near(body.data[0].power_deviation_pct, 0, 0.01)
  })

  await t.test('what does not exist is not found, what is not connected says so', async () => {
    assert.equal((await get('/iv/strings/1/4/expected')).status, 404)
    assert.equal((await get('/iv/strings/9/0/expected')).status, 404)
    assert.equal((await get('/iv/strings/1/x/expected')).status, 422)
    await db.execute(`update strings set connected = false
      where inverter_id = 1 and string_index = 3`)
    assert.equal(reasonOf(await get('/iv/strings/1/3/expected')), 'not_connected')
    await db.execute('update panel_models set a_ref_v = null where params_id = 1')
    assert.equal(reasonOf(await get(path)), 'no_panel_model')
    await db.execute('update panel_models set a_ref_v = 1.8 where params_id = 1')
    await db.execute("update sites set inventory = inventory - 'latitude' where site_id = 'demo'")
    assert.equal(reasonOf(await get(path)), 'no_position')
  })
})

test('the diagnosis of a page', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addStation(site)
  // String 0 soiled by a fifth, its partner sound; string 2 stands still; 3 is alone and sound.
  await db.execute('update strings set mppt_index = string_index where string_index > 1')
  for (let nth = 0; nth < 30; nth += 1) {
    const at = new Date(Date.UTC(2026, 5, 21, 8, 3 * nth)).toISOString()
    const irradiance = 600 + 10 * nth
    const module_c = 45 + nth / 10
    const string = { module: panel, module_count: 22 }
    const cells = {
      effective_irradiance_w_m2: irradiance,
      cell_temperature_c: module_c + (3 * irradiance) / 1000,
    }
    const { expected_i_mp_a, expected_v_mp_v } = expectedString(string, cells)
    const current_a = [0.8 * expected_i_mp_a, expected_i_mp_a, 8, expected_i_mp_a]
    await add(site, { at, current_a, voltage_v: expected_v_mp_v, weather: [irradiance, module_c] })
    const low_v = 0.95 * expected_v_mp_v
    const low_a = expectedCurrentAtVoltage(string, cells, low_v)!
    await addReading(db, 'string', {
      inverter_id: 2,
      first_string_index: 0,
      measured_at: at,
      voltage_v: [low_v, low_v],
      current_a: [0.985 * low_a, 0.9 * low_a],
    })
  }
  const meta = async (string: number, query = '', inverter = 1) =>
    (await get(`/iv/strings/${inverter}/${string}/expected${query}`)).body.meta

  await t.test('names what is wrong, and how much it costs', async () => {
    const soiled = await meta(0)
    assert.equal(soiled.diagnosis, 'current_loss')
    near(soiled.current_loss_pct, 20, 2)
    assert.equal(soiled.diagnosed_point_count, 30)
    assert.equal((await meta(1)).diagnosis, 'normal')
    assert.equal((await meta(3)).diagnosis, 'normal')
  })

  await t.test('a weaker string of the same MPPT is to blame for a low voltage', async () => {
    assert.equal((await meta(0, '', 2)).diagnosis, 'normal')
    await db.execute(
      'update strings set azimuth_deg = 200 where inverter_id = 2 and string_index = 1',
    )
    assert.equal((await meta(0, '', 2)).diagnosis, 'voltage_loss')
  })

  await t.test('does not judge what stands still, or too little', async () => {
    const { body } = await get('/iv/strings/1/2/expected')
    assert.equal(body.data.length, 30)
    assert.ok(body.data.every(({ flags }: { flags: string[] }) => flags.includes('stale')))
    assert.deepEqual([body.meta.diagnosis, body.meta.diagnosis_reason], [null, 'insufficient_data'])
    assert.equal((await meta(0, '?limit=11')).diagnosis_reason, 'insufficient_data')
  })

  await t.test('does not judge strings by an inverter that is off', async () => {
    await db.execute("update inverter_readings set ac_power_kw = 0, state = 'fault'")
    assert.deepEqual((await meta(0)).diagnosis_reason, 'insufficient_data')
  })
})

test('no string is held beside an instrument that is not believed', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  await addStation(site)
  const minute_ms = 60_000
  const first_ms = Date.UTC(2026, 5, 21, 8)
  /** Of an hour of the morning, each five minutes: what `shown` has the reference cell say. */
  async function hear(shown: (nth: number) => number, from_ms = first_ms) {
    await db.execute('delete from string_readings')
    await db.execute('delete from inverter_readings')
    await db.execute('delete from weather_readings where station_id = 1')
    for (let nth = 0; nth <= 12; nth += 1) {
      const at = new Date(from_ms + 5 * nth * minute_ms).toISOString()
      const weather: [number, number] = [shown(nth), 45 + nth / 10]
      await add(site, { at, current_a: [i_mp_a + nth / 100], weather })
    }
  }
  const points = async (query = '') => {
    const { body } = await get(`${path}${query}`)
    return (body.data as Row[]).map((point) => [point['poa_irradiance_w_m2'], ...point['flags']])
  }
  const none = Array(13).fill([null, 'no_irradiance'])

  await t.test('that stands still while the sun moves, on a page of one reading, too', async () => {
    await hear(() => 640)
    assert.deepEqual(await points(), none)
    assert.deepEqual(await points('?limit=1'), none.slice(0, 1))
    const { body } = await get(path)
    assert.equal(body.meta.diagnosis_reason, 'insufficient_data')
    assert.ok((body.data as Row[]).every((point) => point['power_deviation_pct'] === null))
  })

  await t.test('that shows more than any sky gives', async () => {
    await hear((nth) => (nth === 6 ? 1900 : 890 + nth))
    const said = await points()
    assert.deepEqual(said[6], [null, 'no_irradiance'])
    assert.deepEqual(said[7], [897])
  })

  await t.test('at noon of a place where that is midnight of UTC, too', async () => {
    const move = (longitude: number) =>
      db.execute(
        "update sites set inventory = inventory || jsonb_build_object('longitude', $1::float8)",
        [longitude],
      )
    await move(180)
    const midnight_ms = Date.UTC(2026, 5, 21)
    await hear(() => 640, midnight_ms - 30 * minute_ms)
    assert.deepEqual(await points(), none)
    await hear((nth) => 890 + nth, midnight_ms - 30 * minute_ms)
    assert.deepEqual(
      await points(),
      none.map((_, nth) => [890 + nth]),
    )
    await move(12.17)
  })

  await t.test('but beside another of its plant, which is', async () => {
    await hear(() => 640)
    await db.execute(
      `insert into stations (site_id, station_id, logger_id, name, instruments, created_at,
         updated_at)
       select site_id, 2, logger_id, 'Other mast', instruments, now(), now() from stations`,
    )
    for (let nth = 0; nth <= 12; nth += 1) {
      const measured_at = new Date(first_ms + 5 * nth * minute_ms).toISOString()
      const instrument_values = [890 + nth, 45 + nth / 10]
      await addReading(db, 'weather', { station_id: 2, measured_at, instrument_values })
    }
    const said = await points()
    assert.deepEqual(
      said,
      said.map((_, nth) => [890 + nth]),
    )
  })
})

// biome-ignore lint/suspicious/noExplicitAny: a point of any kind
type Row = Record<string, any>

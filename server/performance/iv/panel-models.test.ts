import assert from 'node:assert/strict'
import test from 'node:test'
import { servedSite } from '../../fixtures/served-site.ts'
import { expectedString } from '../diagnostics/expected-string.ts'
import { importList } from '../panels/import.ts'
import { ownModels } from '../panels/own-library.ts'

/** That of the fixture. */
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
const bundled = ownModels.find(({ name }) => name === 'JA Solar JAM72S20-455/MR')!

const near = (actual: number, expected: number, within: number) =>
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not near ${expected}`)

test('panel models', async (t) => {
  const site = await servedSite()
  t.after(site.close)
  const { db, get } = site
  const listed = { ...bundled, name: 'Tellurix 100%_Blue-9', manufacturer: 'Tellurix' }
  const imported = { ...listed, model: '100%_Blue-9', power_stc_w: 454.9 }
  const list = { models: [imported], refused: [], duplicates: [] }
  await importList(db, list, { source: 'a test', at: new Date('2026-01-01T00:00:00Z') })

  await t.test('of the strings at the site, the circuit making up for the datasheet', async () => {
    const { status, body } = await get('/iv/modules')
    assert.equal(status, 200)
    assert.equal(body.meta.count, 1)
    const [model] = body.data
    assert.equal(model.params_id, 1)
    assert.equal(model.source, 'site')
    assert.equal(model.used_by_string_count, 10)
    const { expected_i_sc_a, expected_v_oc_v } = expectedString(
      { module: panel, module_count: 1 },
      { effective_irradiance_w_m2: 1000, cell_temperature_c: 25 },
    )
    near(model.i_sc_a, expected_i_sc_a, 1e-6)
    near(model.v_oc_v, expected_v_oc_v, 1e-6)
    near(model.i_mp_a * model.v_mp_v, panel.power_stc_w, 3)
    assert.ok(model.gamma_pmp_pct_per_c < -0.25 && model.gamma_pmp_pct_per_c > -0.45)
    assert.ok(model.beta_oc_v_per_c < -0.1 && model.beta_oc_v_per_c > -0.16)
    assert.deepEqual([model.noct_c, model.area_m2, model.bifacial], [null, null, null])
  })

  await t.test('without a circuit of its own, the circuit of the library counts', async () => {
    await db.execute(
      `insert into panel_models (site_id, params_id, name, manufacturer, technology, power_stc_w)
       values ('demo', $1, 'Called otherwise', 'Maker', 'mono', 452),
              ('demo', 7, 'Nobody knows it', 'Maker', 'mono', 450)`,
      [bundled.params_id],
    )
    await db.execute(
      `update strings set params_id = $1, connected = string_index = 0
       where site_id = 'demo' and inverter_id = 3`,
      [bundled.params_id],
    )
    const { body } = await get('/iv/modules')
    const [, second] = body.data
    assert.deepEqual(
      body.data.map((model: Row) => [model['params_id'], model['used_by_string_count']]),
      [
        [1, 8],
        [bundled.params_id, 1],
      ],
    )
    assert.deepEqual([second.name, second.power_stc_w], ['Called otherwise', 452])
    assert.deepEqual([second.a_ref_v, second.source], [bundled.a_ref_v, 'fitted'])
    assert.equal(second.i_sc_a, bundled.i_sc_a)
  })

  await t.test('one by its id: of the site first, then of the library', async () => {
    const { body: own } = await get(`/iv/modules/${bundled.params_id}`)
    assert.deepEqual([own.name, own.used_by_string_count], ['Called otherwise', 1])
    const { body: unknown } = await get('/iv/modules/7')
    assert.deepEqual([unknown.power_stc_w, unknown.a_ref_v, unknown.i_sc_a], [450, null, null])
    assert.equal(unknown.model, null, 'a name that does not begin with its maker')
    const { body: announced } = await get('/iv/modules/1')
    assert.equal(`${announced.manufacturer} ${announced.model}`, announced.name)
    const [other] = ownModels.filter(({ params_id }) => params_id !== bundled.params_id)
    const { body: model } = await get(`/iv/modules/${other!.params_id}`)
    assert.deepEqual([model.name, model.used_by_string_count], [other!.name, 0])
    assert.equal((await get('/iv/modules/999')).status, 404)
    assert.equal((await get('/iv/modules/x')).status, 422)
  })

  await t.test('search finds what comes with the program and what was imported', async () => {
    const { body } = await get('/iv/modules/search?q=jam72s20%20455')
    assert.equal(body.data[0].params_id, bundled.params_id)
    assert.deepEqual([body.data[0].rank, body.data[0].in_library], [1, true])
    const { body: found } = await get('/iv/modules/search?q=tellurix')
    assert.deepEqual([found.meta.count, found.data[0].source], [1, 'cec'])
    assert.equal(found.data[0].in_library, false)
  })

  await t.test('search takes % and _ as they are, and needs a query', async () => {
    const count = async (q: string) => (await get(`/iv/modules/search?q=${q}`)).body.meta.count
    assert.equal(await count('100%25'), 1)
    assert.equal(await count('%25'), 1)
    assert.equal(await count('_'), 0)
    assert.equal((await get('/iv/modules/search')).status, 422)
    assert.equal((await get('/iv/modules/search?q=')).status, 422)
    assert.equal((await get(`/iv/modules/search?q=${'a'.repeat(201)}`)).status, 422)
  })

  await t.test('search gives 20 matches, 50 at most, and counts them all', async () => {
    const rows = Array.from({ length: 60 }, (_, nth) => {
      const model = `Row ${nth + 10}`
      return { ...imported, name: `Tellurix ${model}`, model }
    })
    const more = { models: rows, refused: [], duplicates: [] }
    await importList(db, more, { source: 'a test', at: new Date('2026-01-02T00:00:00Z') })
    const search = async (query: string) => {
      const { body } = await get(`/iv/modules/search?q=tellurix${query}`)
      return [body.data.length, body.meta.count]
    }
    assert.deepEqual(await search(''), [20, 61])
    assert.deepEqual(await search('&limit=3'), [3, 61])
    assert.deepEqual(await search('&limit=500'), [50, 61])
  })

  await t.test('a string whose panels only the library knows has an expectation', async () => {
    const { body } = await get('/iv/strings/3/0/expected')
    assert.deepEqual([body.meta.params_id, body.meta.reason], [bundled.params_id, 'no_irradiance'])
  })
})

type Row = Record<string, unknown>

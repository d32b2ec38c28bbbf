import assert from 'node:assert/strict'
import test from 'node:test'
import type { Overview, Site } from '@heliograph/sdk'
import { deviceItems, foundItems, type Item, siteItems } from './search-items.ts'

const overview = {
  site: { site_id: 'park' },
  loggers: [{ logger_id: 2, name: 'East plant', plant_code: 'E' }],
  inverters: [
    { inverter_id: 7, name: 'E-3', model: 'EP 100', serial_number: 'EP100-2207' },
    { inverter_id: 8, name: 'E-30', model: 'EP 100', serial_number: null },
  ],
  bess: [{ bess_id: 1, name: 'Battery South' }],
} as unknown as Overview

const labels = (found: [Item['kind'], Item[]][]) =>
  found.map(([kind, items]) => [kind, ...items.map(({ label }) => label)])

test('a device is found by name, kind or serial number, the beginning of a name first', () => {
  const items = deviceItems(overview)
  assert.deepEqual(labels(foundItems(items, '2207')), [['Devices', 'E-3']])
  assert.deepEqual(labels(foundItems(items, 'inverter e-30')), [['Devices', 'E-30']])
  assert.deepEqual(labels(foundItems(items, 'e')), [
    ['Devices', 'East plant', 'E-3', 'E-30', 'Battery South'],
  ])
  assert.deepEqual(foundItems(items, 'nothing'), [])
  assert.equal(foundItems(items, '2207')[0]?.[1][0]?.href, '/sites/park/inverters/7')
})

test('a change of the site keeps the page, but not the page of a device', () => {
  const sites = [{ site_id: 'b', name: 'Berg' }] as Site[]
  const hrefAt = (rest: string) => siteItems(sites, rest, ['', '/energy'])[0]?.href
  assert.equal(hrefAt('/energy'), '/sites/b/energy')
  assert.equal(hrefAt('/inverters/7'), '/sites/b')
})

test('each kind shows its first eight', () => {
  const items = Array.from(
    { length: 20 },
    (_, nth): Item => ({ kind: 'Sites', label: `Site ${nth}`, hint: '', href: '' }),
  )
  assert.equal(foundItems(items, '')[0]?.[1].length, 8)
})

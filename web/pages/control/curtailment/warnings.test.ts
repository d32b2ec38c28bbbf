import assert from 'node:assert/strict'
import test from 'node:test'
import { plantWarnings } from './warnings.ts'

const said = (...warnings: string[]) => plantWarnings(warnings, (id) => `Plant ${id}`)

test('a plant that is not raised again is named, and what it needs', () => {
  const [text, ...others] = said('logger_offline', 'no_permit_entry:2', 'no_permit_entry:14')
  assert.match(text!, /^Not raised again after this limit: Plant 2, Plant 14\./)
  assert.match(text!, /permit file/)
  assert.deepEqual(others, [])
})

test('a plant whose devices are stopped is named, and what is not of a plant is left out', () => {
  assert.deepEqual(said('logger_offline', 'overlaps_group:7f', 'one_of_a_newer_server:1'), [])
  const [text] = said('below_lowest_limit:3')
  assert.match(text!, /^Below the lowest limit of devices: Plant 3\. .* set to 0 kW/)
})

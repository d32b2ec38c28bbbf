import assert from 'node:assert/strict'
import test from 'node:test'
import { configs } from './configurations.ts'
import { search } from './search.ts'

/** About 30 s together on a busy machine; `npm run search-control` goes deeper. */
const states_max = 1500

for (const config of configs) {
  test(`no state of ${config.name} breaks a claim`, (t) => {
    const { states, steps, is_complete, failure } = search(config, states_max)
    t.diagnostic(`${states} states, ${steps} steps, ${is_complete ? 'complete' : 'bounded'}`)
    assert.equal(failure, null)
  })
}

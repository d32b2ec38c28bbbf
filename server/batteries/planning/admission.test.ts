import assert from 'node:assert/strict'
import test from 'node:test'
import type { ApiError } from '../../http/errors.ts'
import { createAdmission } from './admission.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Work that goes on until it is ended; what was refused tells why. */
function desk() {
  const admit = createAdmission()
  const ends: (() => void)[] = []
  const ask = async (site_id: string): Promise<unknown> => {
    let refused: unknown = null
    admit(site_id, () => new Promise<void>((resolve) => ends.push(resolve))).catch((error) => {
      refused = error
    })
    await settled()
    if (refused === null) return 'admitted'
    const { code, headers, details } = refused as ApiError
    assert.deepEqual([code, headers?.['retry-after']], ['service_unavailable', '2'])
    return details!['reason']
  }
  return { ask, end: () => ends.shift()!() }
}

test('one site cannot take the places of the others', async () => {
  const { ask, end } = desk()
  const first = [await ask('a'), await ask('a'), await ask('a'), await ask('a')]
  assert.deepEqual(first, ['admitted', 'admitted', 'admitted', 'plans_of_site'])
  assert.deepEqual([await ask('b'), await ask('b')], ['admitted', 'plans_of_server'])
  assert.deepEqual([await ask('c'), await ask('d')], ['admitted', 'admitted'])
  assert.equal(await ask('e'), 'plans_of_server')
  end()
  await settled()
  assert.equal(await ask('e'), 'admitted')
})

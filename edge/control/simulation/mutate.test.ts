import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { inMutated, inSimulation } from './mutate.ts'
import { mutations } from './mutations.ts'

/** Of those that the simulation finds within seconds: all of them takes minutes. */
const quick = [
  'forgets the silent device',
  'raises before lowering',
  'reports a row as applied before it is proven',
  'names each limit after a row',
]

for (const name of quick) {
  test(`the simulation finds an edge that ${name}`, async () => {
    const mutation = mutations.find((one) => one.name === name)!
    const edge = mutation.edge === 'controller' ? 'controller' : 'thin'
    const root = join(import.meta.dirname, '../../..')
    const after = await inMutated(root, mutation, (dir) => inSimulation(dir, edge, 10_000))
    assert.notEqual(after, null)
  })
}

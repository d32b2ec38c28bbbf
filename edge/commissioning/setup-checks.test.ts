import assert from 'node:assert/strict'
import test from 'node:test'
import { certificateCheck } from '@heliograph/domain/check'
import { day_ms } from '@heliograph/domain/durations'
import { checkDisk, clockCheck, filesCheck } from './setup-checks.ts'

const stateAndFinding = ({ state, finding }: { state: string; finding: string }) => [state, finding]

test('a clock may differ by seconds, is doubted from five on, and refused from a minute on', () => {
  assert.deepEqual(stateAndFinding(clockCheck(1400)), ['ok', '1 s ahead of the server'])
  assert.deepEqual(stateAndFinding(clockCheck(-5100)), ['warning', '5 s behind the server'])
  assert.deepEqual(stateAndFinding(clockCheck(61_000)), ['error', '61 s ahead of the server'])
  assert.equal(clockCheck(null).state, 'warning')
})

test('a certificate that ends within ten days is a warning', () => {
  const now = new Date('2026-06-21T10:00:00Z')
  const after = (days: number) => new Date(now.getTime() + days * day_ms)
  assert.equal(certificateCheck(after(10), now).state, 'ok')
  assert.deepEqual(stateAndFinding(certificateCheck(after(9.5), now)), [
    'warning',
    'valid until 2026-06-30, 9 days',
  ])
})

test('the disk must have room, also for a folder that does not exist yet', async () => {
  const [there, missing] = ['/', '/nowhere/data/edge']
  assert.equal((await checkDisk(there, 1)).state, 'ok')
  assert.equal((await checkDisk(missing, 2 ** 60)).state, 'warning')
})

test('a file in a folder that cannot be written is named', async () => {
  const check = await filesCheck(['/etc/hosts', '/nowhere/edge-token'])
  const finding = '/nowhere/edge-token cannot be written (ENOENT)'
  assert.deepEqual(stateAndFinding(check), ['error', finding])
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { password, servedPlatform } from './fixtures/served-platform.ts'
import { hashes_max, hashPassword, isPasswordOf } from './passwords.ts'

const compress = promisify(gzip)

test('what is compressed meanwhile does not wait for passwords', async () => {
  let hashed = 0
  const hashes = Array.from({ length: 12 }, async () => {
    const hash = await hashPassword('a long sentence of mine')
    hashed += 1
    return hash
  })
  await compress(Buffer.alloc(10_000))
  assert.ok(hashed < 4, `${hashed} of 12 hashes came first`)
  const [one] = await Promise.all(hashes)
  assert.equal(await isPasswordOf(one!, 'a long sentence of mine'), true)
  assert.equal(await isPasswordOf(one!, 'a long sentence of yours'), false)
})

/** Keeps the queue full until `isOver`. */
async function keepFull(isOver: () => boolean): Promise<void> {
  const keepBusy = async () => {
    while (!isOver()) await hashPassword('a long sentence of mine')
  }
  await Promise.all(Array.from({ length: hashes_max.running + hashes_max.waiting }, keepBusy))
}

test('of too many sign-ins the last are refused, and no failure is counted', async (t) => {
  const platform = await servedPlatform()
  t.after(platform.close)
  const own = await platform.person('viewer', 'known@example.com')
  let is_over = false
  const full = keepFull(() => is_over)
  const change = { currentPassword: password, newPassword: 'another long sentence' }
  const body = { ...change, revokeOtherSessions: true }
  const answers = await Promise.all([
    platform.browser().signIn('known@example.com', 'a wrong sentence of mine'),
    platform.browser().signIn('unknown@example.com', 'a wrong sentence of mine'),
    own.ask('POST', '/platform/auth/change-password', { body }),
  ])
  is_over = true
  await full
  for (const { status, body, headers } of answers) {
    assert.deepEqual([status, body.code], [503, 'SERVICE_UNAVAILABLE'])
    assert.ok(Number(headers['retry-after']) >= 1)
  }
  assert.deepEqual(await platform.db.query('select from sign_in_failures where failures > 0'), [])
  assert.equal((await platform.browser().signIn('known@example.com')).status, 200)
})

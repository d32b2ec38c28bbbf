/** What signing in withstands: codes that are tried twice, guessing, locking out, bad sessions. */
import assert from 'node:assert/strict'
import test, { mock } from 'node:test'
import { eventually } from '../../test/conventions/virtual-time.ts'
import {
  type Answered,
  askAuth as ask,
  type Browser,
  password,
  platformOfFile,
} from './fixtures/served-platform.ts'
import { totp } from './fixtures/totp.ts'
import { deleteOldSignIns } from './sign-in-lock.ts'
import { linkToNewPassword } from './user-admin.ts'

const platform = platformOfFile()

const verify = (browser: Browser, code: string) => ask(browser, '/two-factor/verify-totp', { code })

/** A person whose second factor is set up, what made its codes, and those for emergencies. */
async function careful(email: string) {
  const own = await platform.person('viewer', email)
  const { body } = await ask(own, '/two-factor/enable', { password })
  const secret = new URL(body.totpURI).searchParams.get('secret')!
  const first_code = totp(secret)
  assert.equal((await verify(own, first_code)).status, 200)
  return { own, secret, first_code, backup_codes: body.backupCodes as string[] }
}

/** A browser whose password was right, and which is asked for the second factor. */
async function halfway(email: string): Promise<Browser> {
  const browser = platform.browser()
  assert.equal((await browser.signIn(email)).body.twoFactorRedirect, true)
  return browser
}

/** What is answered where each of them has come to taking the code before any of them has. */
async function atOnce(code: string, asks: readonly (() => Promise<Answered>)[]) {
  const answers: Promise<Answered>[] = []
  const held = platform.db.transaction(async (tx) => {
    await tx.execute('insert into user_codes_taken select id, $1 from users', [code])
    answers.push(...asks.map((each) => each()))
    await eventually(async () => {
      const waiting = await platform.db.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      assert.equal(waiting.length, asks.length)
    })
    throw new Error('let go')
  })
  await assert.rejects(held, /let go/)
  return Promise.all(answers)
}

test('a code of the second factor is good once, on all servers together', async () => {
  const email = 'once@example.com'
  const { secret, first_code } = await careful(email)
  const replayed = await verify(await halfway(email), first_code)
  assert.deepEqual(
    [replayed.status, replayed.body.code],
    [401, 'INVALID_CODE'],
    'of the setting up',
  )
  const code = totp(secret)
  const here = await halfway(email)
  const there = await platform.elsewhere(await halfway(email))
  const answers = await atOnce(code, [() => verify(here, code), () => verify(there, code)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 401])
  assert.equal((await verify(await halfway(email), code)).status, 401)
  const sessions = await Promise.all(
    [here, there].map(async (each) => (await each.ask('GET', '/v1/sites')).status),
  )
  assert.deepEqual(sessions.toSorted(), [200, 401])
  const opened = sessions[0] === 200 ? here : there
  assert.equal((await verify(opened, code)).status, 400, 'nor is it looked at once signed in')
})

test('a backup code is good once, on all servers together', async () => {
  const email = 'backup@example.com'
  const {
    backup_codes: [code, other],
  } = await careful(email)
  const byBackup = (browser: Browser, given = code) =>
    ask(browser, '/two-factor/verify-backup-code', { code: given })
  const here = await halfway(email)
  const there = await platform.elsewhere(await halfway(email))
  const answers = await Promise.all([byBackup(here), byBackup(there)])
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.equal((await byBackup(await halfway(email))).status, 401)
  assert.equal((await byBackup(await halfway(email), other)).status, 200)
})

test('refused sessions are limited by network address, and stop no good one', async () => {
  const own = await platform.person('viewer', 'neighbour@example.com')
  const bad = platform.browser(own.address)
  const token = 'heliograph.session_token=forged.AAAA'
  const tries = [
    { cookie: token },
    { cookie: token, 'x-heliograph-session': undefined },
    { cookie: token, 'sec-fetch-site': 'cross-site' },
  ]
  // A minute of its own: that is what is counted in.
  platform.clock.set(new Date(Math.ceil(Date.now() / 60_000) * 60_000))
  const statuses = new Map<number, number>()
  for (let turn = 0; turn < 123; turn += 1) {
    const { status } = await bad.ask('GET', '/v1/sites', { headers: tries[turn % 3]! })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  assert.deepEqual([...statuses].toSorted(), [
    [401, 40],
    [403, 80],
    [429, 3],
  ])
  const limited = await bad.ask('GET', '/platform/session')
  assert.deepEqual([limited.status, limited.body.error.code], [429, 'rate_limited'])
  assert.ok(Number(limited.headers['retry-after']) <= 60)
  assert.equal((await own.ask('GET', '/v1/sites')).status, 200)
  assert.equal((await platform.browser().ask('GET', '/platform/session')).status, 401)
})

test('who guesses locks out strangers, not a browser that its owner has used', async () => {
  const email = 'known@example.com'
  const own = await platform.person('viewer', email)
  await ask(own, '/sign-out')
  for (let turn = 0; turn < 6; turn += 1) {
    await platform.browser().signIn(email, `guess number ${turn}`)
  }
  assert.equal((await platform.browser().signIn(email)).status, 429)
  const signed_in = await own.signIn(email)
  assert.equal(signed_in.status, 200)
  assert.match(
    String(signed_in.headers['set-cookie']),
    /heliograph\.known_device=[^;]+; Max-Age=34560000; Path=\/platform\/auth; HttpOnly; SameSite=Strict/,
  )
  assert.equal((await platform.browser().signIn(email)).status, 429, 'for the others it goes on')
  for (let turn = 0; turn < 5; turn += 1) await own.signIn(email, `mistyped ${turn}`)
  assert.equal((await own.signIn(email)).status, 429, 'its own tries are counted, too')
})

test('a browser is known once the second factor was right, or by a link to a new password', async () => {
  const email = 'lost@example.com'
  const { secret } = await careful(email)
  const guess = async () => {
    for (let turn = 0; turn < 6; turn += 1) {
      await platform.browser().signIn(email, `guess number ${turn}`)
    }
  }
  const half = await halfway(email)
  const own = await halfway(email)
  assert.equal((await verify(own, totp(secret))).status, 200)
  await guess()
  assert.equal((await half.signIn(email)).status, 429, 'the password alone makes none known')
  assert.equal((await own.signIn(email)).status, 200)
  const { link_path } = await linkToNewPassword(
    { db: platform.db, clock: platform.clock, randomBytes: Buffer.alloc },
    email,
  )
  const other = platform.browser()
  const link = { token: link_path.split('#')[1], newPassword: 'another long sentence' }
  assert.equal((await ask(other, '/reset-password', link)).status, 200)
  await guess()
  assert.equal((await platform.browser().signIn(email, link.newPassword)).status, 429)
  assert.equal((await other.signIn(email, link.newPassword)).status, 200)
})

test('codes that were taken are forgotten after a day', async () => {
  await careful('forgotten@example.com')
  const kept = () => platform.db.query('select from user_codes_taken')
  await deleteOldSignIns(platform.db, new Date())
  assert.notEqual((await kept()).length, 0)
  await deleteOldSignIns(platform.db, new Date(Date.now() + 86_400_000))
  assert.equal((await kept()).length, 0)
})

test('a known browser is known to its account alone, and to nobody who makes it up', async () => {
  const own = await platform.person('viewer', 'mine@example.com')
  await platform.person('viewer', 'theirs@example.com')
  const cookie = own.cookies.get('heliograph.known_device')!
  for (let turn = 0; turn < 5; turn += 1) {
    await platform.browser().signIn('mine@example.com', `guess number ${turn}`)
    await platform.browser().signIn('theirs@example.com', `guess number ${turn}`)
  }
  const tried = async (email: string, value: string) => {
    const browser = platform.browser()
    browser.cookies.set('heliograph.known_device', value)
    return (await browser.signIn(email)).status
  }
  assert.equal(await tried('theirs@example.com', cookie), 429)
  const made_up = `${cookie.startsWith('a') ? 'b' : 'a'}${cookie.slice(1)}`
  assert.equal(await tried('mine@example.com', made_up), 429)
  assert.equal(await tried('mine@example.com', cookie), 200)
})

test('a session lasts as long as it is used, and seven days more', async () => {
  const day_ms = 86_400_000
  const own = await platform.person('viewer', 'steady@example.com')
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  try {
    for (let day = 1; day <= 20; day += 1) {
      mock.timers.tick(day_ms)
      assert.equal((await own.ask('GET', '/v1/sites')).status, 200, `day ${day}`)
    }
    mock.timers.tick(6.9 * day_ms)
    assert.equal((await own.ask('GET', '/v1/sites')).status, 200, 'the seventh day')
    mock.timers.tick(7.1 * day_ms)
    assert.equal((await own.ask('GET', '/v1/sites')).status, 401)
  } finally {
    mock.timers.reset()
  }
})

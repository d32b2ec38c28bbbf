/** Who wrote what, and sessions that end elsewhere. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { newWorkOrder, site_id } from './addresses.ts'
import { ask, openWindow, settle, signIn, visit, type Window } from './browser.ts'
import { addressOf, type Person, theSites } from './people.ts'
import { rowsOf } from './shown.ts'
import { asAdministrator, inWindow, newPersonOf, skip, stage } from './stage.ts'

interface Entry {
  by: string
  by_name: string
  path: string
  status: number
}

const userIdOf = async (window: Window) =>
  (await ask<{ user_id: string }>(window, '/platform/session')).user_id

/** One write that is done, and one that is refused. */
async function write(person: Person): Promise<string> {
  let user_id = ''
  await inWindow({ signed_in: person.cookies }, async (window) => {
    user_id = await userIdOf(window)
    await newWorkOrder(window)
    const refused = await window.context.request.post('/platform/invitations', {
      headers: { 'x-heliograph-session': '1' },
      data: { email: addressOf('refused'), role: 'viewer' },
    })
    assert.equal(refused.status(), 403)
  })
  return user_id
}

test('the audit tells who wrote what, and what was refused', { skip }, async () => {
  const user_id = await write(await newPersonOf('operator'))
  await asAdministrator(async (window) => {
    const { page } = window
    await visit(page, '/')
    await page.getByRole('navigation').getByRole('link', { name: 'Audit' }).click()
    await settle(page)
    await page.getByRole('textbox', { name: 'Search' }).fill(user_id)
    const { data } = await ask<{ data: Entry[] }>(window, '/platform/audit?limit=100')
    const own = data.filter(({ by }) => by === user_id)
    assert.deepEqual(
      own.filter(({ path }) => path === '/work-orders').map(({ status }) => status),
      [201],
    )
    const rows = await rowsOf(page, 'Audit')
    assert.deepEqual(
      rows.map((row) => row['Outcome']?.toLowerCase()),
      own.map(({ status }) => `${status < 400 ? 'done' : 'refused'} ${status}`),
    )
    for (const row of rows) assert.match(row['By'] ?? '', /^The operator\n+person/)
    const words = rows.map((row) => row['Action']).join('\n')
    assert.match(words, new RegExp(`POST /work-orders at ${site_id}\\n+.*Look after string 3`))
    await page.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: 'Refused' }).click()
    const refused = await rowsOf(page, 'Audit')
    assert.deepEqual(
      refused.map((row) => row['Action']?.split('\n')[0]),
      ['POST /platform/invitations'],
    )
  })
})

test('who signs out everywhere else stays signed in here alone', { skip }, async () => {
  const { email, password, cookies } = await newPersonOf('operator')
  await inWindow({ signed_in: cookies }, async (here) => {
    const { base_url } = stage.demo
    const elsewhere = await openWindow(stage.browser, { base_url })
    try {
      await signIn(elsewhere.page, email, password)
      await theSites(elsewhere.page)
      await visit(here.page, '/account')
      const part = here.page.getByRole('region', { name: 'Where you are signed in' })
      await part.getByRole('button', { name: /^Sign out (?!other)/ }).waitFor()
      await part.getByRole('button', { name: 'Sign out other sessions' }).click()
      await here.page.getByText('Other sessions signed out').first().waitFor()
      await part
        .getByRole('button', { name: /^Sign out/ })
        .first()
        .waitFor({ state: 'detached' })
      assert.deepEqual(await part.getByText('This session', { exact: true }).count(), 1)
      const sessions = await ask<unknown[]>(here, '/platform/auth/list-sessions')
      assert.equal(sessions.length, 1)
      const session = await elsewhere.context.request.get('/platform/session', {
        headers: { 'x-heliograph-session': '1' },
      })
      assert.equal(session.status(), 401)
      await elsewhere.page.goto('/account')
      await elsewhere.page.getByRole('heading', { name: 'Sign in to Heliograph' }).waitFor()
      await visit(here.page, `/sites/${site_id}`)
    } finally {
      await elsewhere.close()
    }
  })
})

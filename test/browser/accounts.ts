/** How people and programs come in, and what they may do then. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { totp } from '@heliograph/server/access/fixtures/totp'
import { site_id } from './addresses.ts'
import { signIn, visit } from './browser.ts'
import { addressOf, firstLink, signOut, takeInvitation, theSites } from './people.ts'
import { asAdministrator, inWindow, newPersonOf, skip, stage } from './stage.ts'

const signed_out = /^401 GET .*\/platform\/session$/
/** What a viewer must not be offered. */
const forbidden =
  /^(Curtail|Limit|Release|Approve|Reject|Make|New|Change|Acknowledge|Resolve|Revoke)\b/

test('the one-time link makes an account that is signed in, and works once', { skip }, async () => {
  const link = await firstLink(stage.browser, stage.demo)
  await inWindow({ expected: [/^404 POST .*\/invitations\/look$/] }, async (window) => {
    const { page } = window
    stage.administrator = await takeInvitation(window, link, 'Ada Lovelace')
    await page.getByRole('link', { name: /Demo/ }).first().waitFor()
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('alert', { name: /no longer valid/ }).waitFor()
  })
})

test('with a second factor the password alone opens nothing', { skip }, async () => {
  const { email, password, cookies } = await newPersonOf('operator')
  await inWindow({ signed_in: cookies, expected: [signed_out] }, async ({ page }) => {
    await visit(page, '/account')
    const part = page.getByRole('region', { name: 'Second factor' })
    await part.getByLabel(/^Your password/).fill(password)
    await part.getByRole('button', { name: 'Set up' }).click()
    const secret = await part.getByText(/^[A-Z2-7]{16,}=*$/).innerText()
    await part.getByLabel(/Present code of the app/).fill(totp(secret))
    await part.getByRole('button', { name: 'Enable' }).click()
    await part.getByText('On', { exact: true }).waitFor()
    await signOut(page)
    await signIn(page, email, password)
    await page.getByText('Authenticator code').first().waitFor()
    await page.getByRole('textbox').first().click()
    await page.keyboard.type(totp(secret))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await theSites(page)
  })
})

test('a key is made, shown once, and answers a call', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    const name = `Energy trader ${addressOf('key')}`
    await visit(page, '/settings/keys')
    await page.getByRole('button', { name: 'New key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    await form.getByRole('button', { name: 'Create key' }).click()
    await form.getByText('Enter the name of the program', { exact: false }).waitFor()
    await form.getByLabel(/^Name/).fill(name)
    await form.getByRole('button', { name: 'Read everything' }).click()
    await form.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: `Key “${name}”` })
    const secret = await shown
      .getByText(/^hg_|^[A-Za-z0-9_-]{30,}$/)
      .first()
      .innerText()
    await shown.getByRole('button', { name: /Try it/ }).click()
    await shown.getByText('200: the key is valid.').waitFor()
    const answer = await fetch(`${stage.demo.base_url}/v1/sites`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    assert.equal(answer.status, 200)
    await shown.getByRole('button', { name: 'Done' }).click()
    await shown.waitFor({ state: 'detached' })
    await page.getByText(name).first().waitFor()
    assert.equal(await page.getByText(secret).count(), 0, 'it is shown once')
  })
})

test('a viewer finds nothing that he may not do, and is refused it', { skip }, async () => {
  const { cookies } = await newPersonOf('viewer')
  await inWindow({ signed_in: cookies }, async ({ page, context }) => {
    for (const path of ['', '/curtailment', '/batteries/1/day', '/alerts', '/work-orders']) {
      await visit(page, `/sites/${site_id}${path}`)
      const commands = page
        .getByRole('button', { name: forbidden })
        // The heads of tables sort.
        .and(page.locator(':not(th *)'))
        .or(page.getByRole('link', { name: forbidden }))
      assert.deepEqual(await commands.allInnerTexts(), [], path)
    }
    const menu = page.getByRole('navigation')
    await menu.getByRole('link', { name: 'Overview' }).waitFor()
    assert.equal(await menu.getByRole('link', { name: /API access|People|Audit/ }).count(), 0)
    const refused = await context.request.post(`/v1/sites/${site_id}/curtailment/immediate`, {
      headers: { 'x-heliograph-session': '1', 'idempotency-key': addressOf('refused') },
      data: { scope: 'site', limit_mode: 'percent', limit_value: 50, duration_minutes: 15 },
    })
    assert.equal(refused.status(), 403)
  })
})

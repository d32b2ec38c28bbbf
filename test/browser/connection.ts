/** Without a connection, without a server: what was typed stays, and pages go on by themselves. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { ask, passwordField, visit, type Window } from './browser.ts'
import { addressOf } from './people.ts'
import { asAdministrator, inWindow, newPersonOf, skip, stage } from './stage.ts'

test('without a connection it says so, and nothing that was typed is lost', { skip }, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    await visit(page, `/sites/${site_id}/work-orders/new`)
    const title = page.getByLabel(/^Title/)
    await title.fill('Typed before the line went')
    await window.lose()
    const banner = page.getByRole('alert').filter({ hasText: 'The server does not answer' })
    await banner.waitFor()
    assert.equal(await title.inputValue(), 'Typed before the line went')
    await page.getByRole('button', { name: 'Create work order' }).click()
    await page
      .getByText(/cannot be reached|no answer/)
      .first()
      .waitFor()
    assert.equal(await title.inputValue(), 'Typed before the line went')
    await window.regain()
    await banner.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Create work order' }).click()
    await page.getByRole('heading', { name: /Typed before the line went/ }).waitFor()
  })
})

test('what was typed outlasts its page, a reload and the session, until it is sent', {
  skip,
}, async () => {
  const person = await newPersonOf('operator')
  const name = `Typed before the session ended ${addressOf('once')}`
  const options = { signed_in: person.cookies, expected: [/^401 /] }
  await inWindow(options, async ({ page, context }) => {
    const title = page.getByLabel(/^Title/)
    const isBack = async () => {
      await page.getByText(/^Draft of .* restored/).waitFor()
      assert.equal(await title.inputValue(), name)
    }
    await visit(page, `/sites/${site_id}/work-orders/new`)
    await title.fill(name)
    await page.getByRole('link', { name: /^Alerts/ }).click()
    await page.getByRole('heading', { name: 'Alerts', level: 1 }).waitFor()
    await page.goBack()
    await isBack()
    await page.reload()
    await isBack()

    await context.clearCookies()
    await page.getByRole('button', { name: 'Create work order' }).click()
    await page.getByRole('heading', { name: 'Sign in to Heliograph' }).waitFor()
    await page.getByLabel('E-mail').fill(person.email)
    await passwordField(page).fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await isBack()
    await page.getByRole('button', { name: 'Create work order' }).click()
    await page.getByRole('heading', { name }).waitFor()
    await visit(page, `/sites/${site_id}/work-orders/new`)
    assert.equal(await title.inputValue(), '')
  })
})

/** From the first question that is answered on; pages ask every few seconds. */
const back_ms_max = 60_000
const restart_ms_max = 240_000
/** What a browser tells of a server that is not there, or that is going. */
const unanswered = [/^net::ERR_/, /^50[234] /]

test('the server goes and comes back: the pages say so, and go on', {
  skip,
  timeout: restart_ms_max,
}, async (t) => {
  const { interrupt } = stage.demo
  if (!interrupt) return t.skip('the demo is not ours to stop')
  const name = `Typed before the server went ${addressOf('once')}`
  const options = { expected: unanswered }
  await asAdministrator(async (overview) => {
    await asAdministrator(async (form) => {
      const windows = [overview, form]
      await visit(overview.page, `/sites/${site_id}`)
      await visit(form.page, `/sites/${site_id}/work-orders/new`)
      await form.page.getByLabel(/^Title/).fill(name)
      // Gone with the first reload.
      for (const { page } of windows) await page.evaluate('globalThis.never_reloaded = true')

      const start = await interrupt()
      for (const { page } of windows) await gone(page).waitFor()
      await makeIt(form.page)
      await form.page.getByText('Your input is kept: try again in a moment.').first().waitFor()
      assert.equal(await form.page.getByLabel(/^Title/).inputValue(), name)

      await start()
      const started_at = new Date().toISOString()
      await isLive(overview, started_at)
      for (const { page } of windows) {
        await gone(page).waitFor({ state: 'detached', timeout: back_ms_max })
        assert.equal(await page.evaluate('globalThis.never_reloaded'), true)
        await page.getByRole('button', { name: 'Signed in as Ada Lovelace' }).waitFor()
      }
      assert.equal(await form.page.getByLabel(/^Title/).inputValue(), name)
      await makeIt(form.page)
      await form.page.getByRole('heading', { name }).waitFor()
      assert.equal(await countOf(form, name), 1)
    }, options)
  }, options)
})

const gone = (page: Page) =>
  page.getByRole('alert').filter({ hasText: 'The server does not answer' })

const makeIt = (page: Page) => page.getByRole('button', { name: 'Create work order' }).dblclick()

/** What it shows was measured after an instant, and it says nothing of old data. */
async function isLive({ page }: Window, since: string): Promise<void> {
  await page.waitForResponse(
    async (response) => {
      if (!response.ok() || !response.url().endsWith('/overview')) return false
      const { status } = (await response.json()) as { status: { measured_at: string | null } }
      return status.measured_at !== null && status.measured_at > since
    },
    { timeout: back_ms_max },
  )
  await page.getByText('Stale data').waitFor({ state: 'detached' })
  await page
    .getByText(/^Power now/)
    .first()
    .waitFor()
}

interface OrderList {
  data: { title: string }[]
}

async function countOf(window: Window, title: string): Promise<number> {
  const { data } = await ask<OrderList>(window, `/v1/sites/${site_id}/work-orders?limit=200`)
  return data.filter((order) => order.title === title).length
}

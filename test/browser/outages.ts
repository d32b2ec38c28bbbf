/** Pages whose code, reads or plants are out of reach: they say so, and recover by themselves. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { settle, visit } from './browser.ts'
import { asAdministrator, skip } from './stage.ts'

const recovered_ms_max = 60_000

const pageCode = /\/assets\/earnings-[^/]*\.js$/
/** A browser reports in the console that it could not fetch code. */
const expected = [/^console: .*dynamically imported module/, /^exception: .*dynamically imported/]

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

test('a page whose code cannot be fetched says so, and is loaded once the network is back', {
  skip,
}, async () => {
  await asAdministrator(
    async (window) => {
      const { page } = window
      await visit(page, `/sites/${site_id}`)
      await window.lose()
      await page.getByRole('link', { name: 'Earnings' }).first().click()
      await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
      await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click()
      await heading(page, 'Overview').waitFor()
      await page.getByRole('link', { name: 'Earnings' }).first().click()
      await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
      await window.regain()
      await heading(page, 'Earnings').waitFor({ timeout: recovered_ms_max })
      await page.getByText('could not be loaded').waitFor({ state: 'detached' })
    },
    { expected },
  )
})

test('a page that an upgrade of the server replaced is loaded anew', { skip }, async () => {
  await asAdministrator(
    async ({ page }) => {
      await visit(page, `/sites/${site_id}`)
      await page.route(pageCode, (route) => route.fulfill({ status: 404 }), { times: 1 })
      await page.getByRole('link', { name: 'Earnings' }).first().click()
      await heading(page, 'Earnings').waitFor({ timeout: recovered_ms_max })
    },
    { expected: [...expected, /^404 GET .*earnings-/] },
  )
})

test('reads that failed without a network are repeated once it is back', { skip }, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    await visit(page, `/sites/${site_id}/energy`)
    await window.lose()
    await page.getByText('Year', { exact: true }).click()
    const failed = page.getByRole('alert').filter({ hasText: 'Loads as soon as' })
    await failed.first().waitFor({ timeout: recovered_ms_max })
    await window.regain()
    await page.getByRole('heading', { name: 'By month' }).waitFor()
    await failed.first().waitFor({ state: 'detached', timeout: recovered_ms_max })
    await settle(page)
  })
})

interface OverviewAnswer {
  loggers: { comm_state: string }[]
  bess: { status: string }[]
}

test('while the edge is silent nothing is healthy, online or in order', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    await page.route(`**/v1/sites/${site_id}/overview`, async (route) => {
      const answer = await route.fetch()
      const overview = (await answer.json()) as OverviewAnswer
      for (const logger of overview.loggers) logger.comm_state = 'disconnected'
      // Whether a unit is online or on standby depends on the hour.
      for (const unit of overview.bess) unit.status = 'unknown'
      await route.fulfill({ response: answer, json: overview })
    })
    await visit(page, `/sites/${site_id}`)
    await page.getByRole('alert').filter({ hasText: 'All plants offline' }).waitFor()
    const text = await page.getByRole('main').innerText()
    for (const word of [/^healthy$/im, /\bOnline\b/, /No action needed/, /\d of \d+\s*$/m]) {
      assert.doesNotMatch(text, word)
    }
    assert.match(text, /Power now\s*–/)
    await page.unroute(`**/v1/sites/${site_id}/overview`)
    await page.getByText('All plants offline').waitFor({ state: 'detached' })
  })
})

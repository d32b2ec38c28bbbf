/** A report is ordered, made and downloaded; its digest is that of the file. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import type { ReportRun, ReportSubscription } from '@heliograph/sdk'
import type { Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { ask, visit } from './browser.ts'
import { addressOf } from './people.ts'
import { asAdministrator, skip, stage } from './stage.ts'

const made_ms_max = 60_000

test('a report is ordered and run, and its file is the one whose digest is known', {
  skip,
}, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    const name = `Production for the owner ${addressOf('report')}`
    await visit(page, `/sites/${site_id}/reports`)
    await page.getByRole('tab', { name: 'Catalogue' }).click()
    await page.getByRole('button', { name: 'Subscribe: Daily production' }).click()
    const form = page.getByRole('dialog', { name: 'Subscribe to Daily production' })
    await form.getByLabel(/^Name/).fill(name)
    await form.getByRole('button', { name: 'Subscribe' }).click()
    await form.waitFor({ state: 'detached' })
    const subscriptions = `/v1/sites/${site_id}/reports/subscriptions`
    const { data } = await ask<{ data: ReportSubscription[] }>(window, subscriptions)
    const ordered = data.find((one) => one.name === name)
    assert.equal(ordered?.template_id, 'production_daily')
    const made = succeededRun(page, ordered!.sub_id)
    await page.getByRole('button', { name: `Run now: ${name}` }).click()
    await page.getByRole('tab', { name: 'Reports' }).click()
    const run = await made
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      // The newest is the first; a month has several of one name.
      page
        .getByRole('button', { name: `download ${run.file_name}` })
        .first()
        .click(),
    ])
    assert.equal(download.suggestedFilename(), run.file_name)
    const file = await readFile(await download.path())
    assert.equal(file.subarray(0, 5).toString(), '%PDF-')
    assert.equal(file.length, run.file_size_bytes)
    assert.equal(sha256(file), run.sha256)
    const address = new URL(run.download_url ?? '', stage.demo.base_url).href
    const headers = { 'x-heliograph-session': '1' }
    const kept = await window.context.request.get(address, { headers })
    assert.equal(kept.headers()['etag'], `"${run.sha256}"`)
    assert.equal((await fetch(address, { headers })).status, 401, 'nobody else has it')
  })
})

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** As the page comes to know of it. */
async function succeededRun(page: Page, sub_id: number): Promise<ReportRun> {
  let run: ReportRun | undefined
  await page.waitForResponse(
    async (response) => {
      if (!new URL(response.url()).pathname.endsWith('/reports/runs')) return false
      // An answer that the page dropped for a newer one has no body.
      const answer: { data: ReportRun[] } | null = await response.json().catch(() => null)
      run = answer?.data.find((one) => one.subscription_id === sub_id)
      return run?.status === 'succeeded'
    },
    { timeout: made_ms_max },
  )
  return run!
}

/** Limits, plans and checklists, from the click to the plant and back. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { newWorkOrder, site_id } from './addresses.ts'
import { settle, sizes, visit } from './browser.ts'
import { asAdministrator, skip } from './stage.ts'

/** From a command to the devices and back. */
export const applied_ms_max = 30_000
export const planned_ms_max = 30_000

test('a plant is limited, the devices show it, and it is released', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    await visit(page, `/sites/${site_id}/curtailment`)
    await page.getByRole('button', { name: 'Limit output' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: 'Review' }).click()
    await form.getByText('Enter a limit.').waitFor()
    const where = form.getByLabel('Apply to')
    await where.selectOption('1')
    const most = form.getByLabel('Limit', { exact: true })
    await most.pressSequentially('37,5')
    await form.getByText('150.0 kW').first().waitFor()
    await paste(page, '12,5')
    await form.getByText('50.0 kW').first().waitFor()
    await most.fill('37')
    await form.getByLabel('Duration', { exact: true }).selectOption('15')
    await form.getByRole('button', { name: 'Review' }).click()
    await form.getByText('148.0 kW').first().waitFor()
    // Twice, as by a double click: it is one command.
    await form.getByRole('button', { name: 'Limit now' }).dblclick()
    await form.waitFor({ state: 'detached' })
    const heading = page.getByRole('heading', { name: /Limit 37 %/ })
    await heading.waitFor()
    assert.equal(await heading.count(), 1)
    const card = page.locator('.mantine-Card-root').filter({ has: heading }).last()
    await card
      .getByText('In force')
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: applied_ms_max })
    await card
      .getByText(/^Devices limited \S/)
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: applied_ms_max })
    await card.getByRole('button', { name: 'Release' }).click()
    const release = page.getByRole('dialog', { name: 'Release limit' })
    await release.getByRole('button', { name: 'Release now' }).click()
    await release
      .getByText(/the limit is lifted at every plant/)
      .waitFor({ timeout: applied_ms_max })
    await release.getByRole('button', { name: 'Close' }).last().click()
    await heading.waitFor({ state: 'detached' })
  })
})

/** Into the field that is typed into. */
const paste = (page: Page, text: string) =>
  page.evaluate(`{
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', ${JSON.stringify(text)})
    const options = { clipboardData, bubbles: true, cancelable: true }
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', options))
  }`)

test('a plan is proposed, an hour of it is changed, and it is approved', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    await visit(page, `/sites/${site_id}/batteries/1/day`)
    // Of today hours have to be left; of tomorrow prices are published by then.
    if (new Date().getUTCHours() >= 18) await page.getByText('Tomorrow', { exact: true }).click()
    await page.getByRole('button', { name: 'Create plan' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('button', { name: 'Create', exact: true }).click()
    await form.waitFor({ state: 'detached', timeout: planned_ms_max })
    await settle(page)
    await changeAnHour(page)
    await page.getByText('Changed manually').waitFor()
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    const approval = page.getByRole('dialog', { name: 'Approve the plan' })
    await approval.getByRole('button', { name: 'Approve' }).click()
    await approval.waitFor({ state: 'detached' })
    await page.getByText(/; approved by/).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Approve', exact: true }).count(), 0)
  })
})

/** The last hour that can give something else while the others stay as they are. */
async function changeAnHour(page: Page): Promise<void> {
  const rows = page.getByRole('row').filter({ hasText: /\sto\s-?[\d.,]+\skW/ })
  await rows.last().getByRole('button', { name: 'Change' }).click()
  const form = page.getByRole('dialog')
  const band = /From\s(-?[\d.,]+)\skW\sto\s(-?[\d.,]+)\skW/.exec(await form.innerText())
  assert.ok(band, 'the band is told')
  const [least = 0, most = 0] = band.slice(1).map((text) => Number(text.replaceAll(',', '')))
  const power = form.getByLabel('Power', { exact: true })
  await power.fill('99999')
  await form.getByRole('button', { name: 'Change hour' }).click()
  await form.getByText(/^Maximum/).waitFor()
  await power.fill(((least + most) / 2).toFixed(1))
  await form.getByRole('button', { name: 'Change hour' }).click()
  await form.waitFor({ state: 'detached' })
}

test('a checklist is filled in on a phone', { skip }, async () => {
  await asAdministrator(
    async (window) => {
      const { page } = window
      const wo_id = await newWorkOrder(window)
      await visit(page, `/sites/${site_id}/work-orders/${wo_id}`)
      await page.getByRole('button', { name: 'Start work' }).tap()
      await page.getByText('Required items before completion').waitFor()
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert.ok(width <= sizes.phone.viewport.width, `the page is ${width} wide`)
      const count = await page.getByRole('button', { name: /^Pass: / }).count()
      assert.ok(count > 0, 'the work order has a checklist')
      for (let nth = 0; nth < count; nth += 1) await answerItem(page, nth)
      await page.getByText(/^\d+ of \d+ done/).waitFor()
      await page.getByRole('button', { name: 'Complete', exact: true }).tap()
      await page.getByRole('button', { name: 'Send back' }).waitFor()
    },
    { size: 'phone' },
  )
})

/** What has to be measured or written first is; then it passes. */
async function answerItem(page: Page, nth: number): Promise<void> {
  const card = page.locator('[id^=item-]').nth(nth)
  const limits = await card.getByText(/^Passes /).allInnerTexts()
  const [measured = '1'] = /[\d.]+/.exec(limits.join(' ')) ?? []
  for (const field of await card.getByLabel(/^(Measured|Text|Name of the signatory)/).all()) {
    await field.fill(measured)
  }
  await card.getByRole('button', { name: /^Pass: / }).tap()
  await card.getByRole('button', { name: /^Pass: /, pressed: true }).waitFor()
}

/** The search opens what a person types, by keyboard alone. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Overview } from '@heliograph/sdk'
import { newWorkOrder, site_id } from './addresses.ts'
import { ask, axeFindings, settle, visit } from './browser.ts'
import { asAdministrator, skip } from './stage.ts'

test('a device, a work order, a page and a site are opened by keyboard', { skip }, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    const wo_id = await newWorkOrder(window)
    const { inverters } = await ask<Overview>(window, `/v1/sites/${site_id}/overview`)
    const inverter = inverters[5]!
    await visit(page, `/sites/${site_id}/energy`)
    const search = async (text: string, found: string) => {
      await page.keyboard.press('Control+K')
      const field = page.getByPlaceholder('Site, page, device')
      await field.fill(text)
      await page.getByRole('option', { name: found }).first().waitFor()
      assert.deepEqual(await axeFindings(page), [])
      await page.keyboard.press('Enter')
      await field.waitFor({ state: 'detached' })
      await settle(page)
      return new URL(page.url()).pathname
    }
    const below = `/sites/${site_id}`
    const serial = inverter.serial_number!
    assert.equal(await search(serial, inverter.name!), `${below}/inverters/${inverter.inverter_id}`)
    assert.match(await search('look after string', 'Look after'), /\/work-orders\/\d+$/)
    assert.equal(await search('earnings', 'Earnings'), `${below}/earnings`)
    assert.equal(await search('', 'Heliograph Demo Park'), `${below}/earnings`)
    assert.ok(wo_id > 0)
  })
})

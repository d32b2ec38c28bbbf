/** Tables sort, filter, hide columns and are saved as files. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import type { Overview } from '@heliograph/sdk'
import { site_id } from './addresses.ts'
import { ask, visit } from './browser.ts'
import { rowsOf } from './shown.ts'
import { asAdministrator, skip } from './stage.ts'

test('a table is sorted by its heads, filtered, and saved as it is shown', { skip }, async () => {
  await asAdministrator(async (window) => {
    const { page } = window
    const { inverters } = await ask<Overview>(window, `/v1/sites/${site_id}/overview`)
    await visit(page, `/sites/${site_id}/inverters`)
    const shown = async () => (await rowsOf(page, 'Inverters')).map((row) => row['Inverter'])
    const names = inverters.map(({ name }) => name)
    assert.deepEqual(await shown(), names)
    const head = page.getByRole('columnheader', { name: 'Inverter', exact: true })
    await head.getByRole('button').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    assert.equal(await head.getAttribute('aria-sort'), 'descending')
    const collator = new Intl.Collator('en', { numeric: true })
    const sorted = names.toSorted((a, b) => collator.compare(b!, a!))
    assert.deepEqual(await shown(), sorted)
    await page.getByLabel('Filter: Inverters').fill('w-')
    const found = sorted.filter((name) => name!.startsWith('W-'))
    assert.deepEqual(await shown(), found)
    await page.getByRole('button', { name: 'Columns: Inverters' }).click()
    await page.getByRole('checkbox', { name: 'Alarms' }).click()
    await page.keyboard.press('Escape')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download CSV: Inverters' }).click()
    const csv = await readFile(await (await download).path(), 'utf8')
    const [heads, ...rows] = csv.trimEnd().split('\r\n')
    assert.match(heads!, /^Inverter,Plant,State,Power \(kW\),/)
    assert.deepEqual(
      rows.map((row) => row.split(',')[0]),
      found,
    )
  })
})

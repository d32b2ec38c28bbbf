/** The overview by day and by night, and what it costs to open it. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { site_id } from './addresses.ts'
import { settle, visit } from './browser.ts'
import { below, siteToday } from './shown.ts'
import { asAdministrator, skip } from './stage.ts'

interface Answer {
  generated_at: string
  status: Record<string, unknown>
  bess: Record<string, unknown>[]
}

interface Changed {
  clock: string
  status: Record<string, unknown>
  battery_kw: number
}

/** The powers change every few seconds, and the hour of a test is any. */
const answerWith = (page: Page, { clock, status, battery_kw }: Changed) =>
  page.route(`**/v1/sites/${site_id}/overview`, async (route) => {
    const response = await route.fetch()
    const answer = (await response.json()) as Answer
    answer.generated_at = `${siteToday()}T${clock}:00Z`
    Object.assign(answer.status, status)
    for (const unit of answer.bess) {
      Object.assign(unit, { power_kw: battery_kw, soc_pct: 46, quality: 'good' })
    }
    await route.fulfill({ response, json: answer })
  })

const day: Changed = {
  clock: '11:00',
  status: {
    is_daylight: true,
    ac_power_kw: 912.4,
    curtailed_power_kw: 0,
    export_power_kw: 640.2,
    import_power_kw: 0,
    inverters_producing: 12,
  },
  battery_kw: -260.1,
}
const night: Changed = {
  clock: '02:00',
  status: {
    is_daylight: false,
    ac_power_kw: -0.2,
    curtailed_power_kw: 0,
    export_power_kw: 0,
    import_power_kw: 2.1,
    inverters_producing: 0,
  },
  battery_kw: 0,
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 2 })

test('by day the overview shows where the energy flows, today and tomorrow', { skip }, async () => {
  await asAdministrator(async ({ page }) => {
    await answerWith(page, day)
    await visit(page, `/sites/${site_id}`)
    await page.getByText(/^Exporting 640.2\skW$/).waitFor()
    const text = await page.getByRole('main').innerText()
    assert.match(text, /PV\s+912\.4\skW\s+12 of 12 inverters producing/)
    assert.match(text, /260\.1\skW\s+Charging, 46 % charged/)
    assert.match(text, /Consumption\s+12\.1\skW/)
    await heading(page, 'Today').waitFor()
    await heading(page, 'Tomorrow').waitFor()
  })
})

test('before dawn the overview shows the day that ended and the day to come', {
  skip,
}, async () => {
  await asAdministrator(async ({ page }) => {
    await answerWith(page, night)
    await visit(page, `/sites/${site_id}`)
    await page.getByText(/^Importing 2.1\skW$/).waitFor()
    assert.match(await page.getByRole('main').innerText(), /PV\s+-0\.2\skW\s+Night/)
    await heading(page, 'Yesterday').waitFor()
    await heading(page, 'Today').waitFor()
    assert.match(await below(page, 'Energy yesterday').innerText(), /^[\d,.]+\s[kM]Wh$/)
  })
})

const limits = { script_bytes: 250_000, reads: 15, shift: 0.05 }

const watchShifts = `
  globalThis.shift = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) shift += entry.value
  }).observe({ type: 'layout-shift', buffered: true })`

const script_bytes = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js'))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

for (const size of ['desktop', 'phone'] as const) {
  test(`the first view of the overview is light and stands still: ${size}`, { skip }, async () => {
    await asAdministrator(
      async ({ page }) => {
        let reads = 0
        page.on('request', (request) => {
          if (/\/(v1|platform)\//.test(request.url())) reads += 1
        })
        await page.addInitScript(watchShifts)
        await page.goto(`/sites/${site_id}`)
        await settle(page)
        const bytes = await page.evaluate<number>(script_bytes)
        const shift = await page.evaluate<number>('shift')
        assert.ok(bytes > 0 && bytes <= limits.script_bytes, `${bytes} bytes of script`)
        if (size === 'phone') assert.ok(reads <= limits.reads, `${reads} reads`)
        assert.ok(shift <= limits.shift, `layout shift ${shift}`)
      },
      { size },
    )
  })
}

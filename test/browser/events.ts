/** Pages show what happened at once: the stream of events comes before the next poll. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { site_id } from './addresses.ts'
import { visit } from './browser.ts'
import { asAdministrator, skip } from './stage.ts'

/** The list is read again every 30 s without events. */
const shown_ms_max = 10_000

test('a work order of somebody else is on the open page before its next poll', {
  skip,
}, async () => {
  await asAdministrator(async ({ page }) => {
    const stream = page.waitForResponse(
      (response) => new URL(response.url()).pathname === `/v1/sites/${site_id}/events`,
    )
    await visit(page, `/sites/${site_id}/work-orders`)
    const { 'content-type': type } = await (await stream).allHeaders()
    assert.match(type!, /^text\/event-stream/)
    const title = 'Replace the fuse of combiner 7'
    // As another program: the page itself knows nothing of it.
    const status = await page.evaluate(
      async ([path, title]) => {
        const response = await fetch(path!, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-heliograph-session': '1',
            'idempotency-key': crypto.randomUUID(),
          },
          body: JSON.stringify({ title, description: 'It has blown.' }),
        })
        return response.status
      },
      [`/v1/sites/${site_id}/work-orders`, title],
    )
    assert.equal(status, 201)
    await page.getByText(title).first().waitFor({ timeout: shown_ms_max })
  })
})

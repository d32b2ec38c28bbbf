/** An agent asks and proposes over the protocol; a person decides on the page. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { site_id } from './addresses.ts'
import { visit } from './browser.ts'
import { asAdministrator, skip, stage } from './stage.ts'

const decided_ms_max = 30_000
const reason = 'The price is below 0.'

async function agent() {
  const { base_url, key_file } = stage.demo
  const key = readFileSync(key_file, 'utf8').trim()
  const client = new Client({ name: 'assistant', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', base_url), { requestInit }),
  )
  const call = async (name: string, given: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: given })
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    assert.notEqual(isError, true, text)
    return text
  }
  return { call, close: () => client.close() }
}

test('an agent proposes a limit, and a person rejects one and approves one', {
  skip,
}, async (t) => {
  const { call, close } = await agent()
  t.after(close)
  assert.match(await call('list_sites', {}), /\| demo \|/)
  assert.match(await call('current_problems', {}), /open alerts/)
  const start_ms = Date.now() + 3_600_000
  const window = {
    start_at: new Date(start_ms).toISOString(),
    end_at: new Date(start_ms + 60_000).toISOString(),
  }
  const limit = { scope: 'logger', logger_id: 1, limit_mode: 'kw', limit_value: 123 }
  const order = { site_id, ...limit, ...window }
  for (const why of [reason, 'By mistake.']) {
    assert.match(await call('propose_curtailment', { ...order, reason: why }), /waits for a person/)
  }
  await asAdministrator(async ({ page }) => {
    await visit(page, `/sites/${site_id}/proposals`)
    const cardOf = (text: string) => page.locator('.mantine-Card-root').filter({ hasText: text })
    await cardOf('By mistake.').getByRole('button', { name: 'Reject' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Note').fill('Not needed.')
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await dialog.waitFor({ state: 'detached' })
    await cardOf('By mistake.').waitFor({ state: 'detached', timeout: decided_ms_max })
    await cardOf(reason).getByText('123.0 kW').first().waitFor()
    await cardOf(reason).getByRole('button', { name: 'Approve' }).click()
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await dialog.waitFor({ state: 'detached' })
    await cardOf(reason).waitFor({ state: 'detached', timeout: decided_ms_max })
    await visit(page, `/sites/${site_id}/curtailment`)
    const command = page.locator('.mantine-Card-root').filter({ hasText: 'Limit 123' })
    await command.getByText(/Requested by Ada/).waitFor()
    await command.getByRole('button', { name: 'Release' }).click()
    const release = page.getByRole('dialog', { name: 'Release limit' })
    await release.getByRole('button', { name: 'Release now' }).click()
    await release.getByRole('button', { name: 'Close' }).last().click()
  })
  const own = await call('list_proposals', { site_id })
  assert.match(own, /approved/)
  assert.match(own, /rejected .*Not needed\./)
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { heliograph } from './command-line.ts'
import { testDatabase } from './postgres.ts'

test('webhooks are made, tested, paused, rotated and deleted on the command line', async (t) => {
  const { db, url: DATABASE_URL, drop } = await testDatabase()
  t.after(drop)
  await db.query(`insert into clients (name, modules) values ('Sunny', '{}');
    insert into sites (site_id, client_id, name) values ('south', 1, 'South')`)
  const types: string[] = []
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    types.push(JSON.parse(body).type)
    response.end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.after(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const run = (networks: string, ...args: string[]) =>
    heliograph(
      { DATABASE_URL, WEBHOOK_NETWORKS: networks },
      'webhooks',
      ...args,
      '--client',
      'Sunny',
    )
  const json = async (...args: string[]) => {
    const { code, out, notes } = await run('127.0.0.0/8', ...args, '--json')
    assert.equal(code, 0, notes)
    return JSON.parse(out)
  }
  const order = ['create', '--name', 'tickets', '--url', url, '--sites', 'south']
  const refused = await run('', ...order)
  assert.equal(refused.code, 4)
  assert.match(refused.notes, /not of a network that WEBHOOK_NETWORKS allows/)
  const unknown = await run('127.0.0.0/8', ...order, '--types', 'alert.exploded')
  assert.match(unknown.notes, /types has no type alert.exploded/)

  const { secret, webhook_id } = await json(...order, '--types', 'alert.raised,gap.opened')
  assert.match(secret, /^whsec_/)
  assert.equal((await json('test', webhook_id)).status, 200)
  assert.deepEqual(types, ['webhook.test'])
  assert.equal((await json('pause', webhook_id)).state, 'paused')
  assert.equal((await json('activate', webhook_id)).state, 'active')
  assert.notEqual((await json('rotate', webhook_id)).secret, secret)
  const listed = await run('', 'list')
  assert.match(listed.out, /tickets +active/)
  assert.ok(!listed.out.includes('whsec_'))
  await json('delete', webhook_id, '--yes')
  assert.deepEqual(await json('list'), [])
  assert.match((await run('', 'delete', webhook_id, '--yes')).notes, /there is no webhook/)
})

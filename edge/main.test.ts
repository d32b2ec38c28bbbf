import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { program_environment } from '../test/program-environment.ts'
import { LinkServer } from './fixtures/link-server.ts'
import { inverterOf, siteOf } from './fixtures/sites.ts'

const token = `edge_${'0a'.repeat(6)}_${'1b'.repeat(32)}`

/** The program on a site whose only connection leads nowhere. */
function startProgram(
  t: TestContext,
  { server_url, site, ...place }: { server_url: string; site: unknown; dir?: string },
) {
  const dir = place.dir ?? mkdtempSync(join(tmpdir(), 'heliograph-edge-'))
  writeFileSync(join(dir, 'site.yaml'), JSON.stringify(site))
  const child = spawn(process.execPath, [new URL('main.ts', import.meta.url).pathname], {
    cwd: dir,
    env: {
      ...program_environment,
      EDGE_TOKEN: token,
      SERVER_URL: server_url,
      METRICS_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit')
  t.after(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await exit
    rmSync(dir, { recursive: true, force: true })
  })
  return { child, exit, dir }
}

async function textOf(stream: ChildProcess['stdout']): Promise<string> {
  let text = ''
  for await (const line of createInterface(stream!)) text += `${line}\n`
  return text
}

test('the program ends with 2 and says where the site file is wrong', async (t) => {
  const site = siteOf([inverterOf(1, { unit_id: 300 })])
  const { child, exit } = startProgram(t, { server_url: 'ws://127.0.0.1:1', site })
  const said = await textOf(child.stderr)
  assert.deepEqual(await exit, [2, null])
  assert.match(
    said,
    /^site\.yaml:1:\d+: loggers\[0\]\.inverters\[0\]\.unit_id: must be at most 255/,
  )
})

test('the program connects, stops in order on SIGTERM, and never logs its token', async (t) => {
  const server = new LinkServer({ token })
  const server_url = await server.listen()
  t.after(() => server.close())
  const connection = {
    connection_id: 'a',
    protocol: 'modbus_tcp',
    host: '127.0.0.1',
    port: 1,
  } as const
  const site = siteOf([inverterOf(1)], { connections: [connection] })
  const { child, exit } = startProgram(t, { server_url, site })
  const log = textOf(child.stdout)
  await server.until(() => server.arrivals.length > 0)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
  assert.match(await log, /edge agent started/)
  assert.doesNotMatch(await log, /1b1b1b/)
  assert.deepEqual(server.committed.values().next().value?.get(1), site)
})

test('a program that was killed says so when it starts again', async (t) => {
  const server = new LinkServer({ token })
  const server_url = await server.listen()
  t.after(() => server.close())
  const field = { protocol: 'modbus_tcp', host: '127.0.0.1', port: 1 } as const
  const site = siteOf([inverterOf(1)], { connections: [{ connection_id: 'a', ...field }] })
  const starts = () =>
    [...server.committed.values()]
      .flatMap((frames) => [...frames.values()])
      .filter(Array.isArray)
      .flat()
      .filter(({ code }) => code === 'agent_started')
      .map(({ details }) => [details.unclean, details.rebooted, typeof details.down_from_at])
  const { child, exit, dir } = startProgram(t, { server_url, site })
  await server.until(() => starts().length === 1)
  child.kill('SIGKILL')
  await exit
  startProgram(t, { server_url, site, dir })
  await server.until(() => starts().length === 2)
  assert.deepEqual(starts()[0]!.slice(0, 2), [null, null])
  const has_boot_id = existsSync('/proc/sys/kernel/random/boot_id')
  assert.deepEqual(starts()[1], [true, has_boot_id ? false : null, 'number'])
})

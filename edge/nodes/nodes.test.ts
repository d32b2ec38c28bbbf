/** The edge's broker and client over real sockets, and Debian's mosquitto as peer of both. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { systemClock, systemTimers } from '@heliograph/domain/clock'
import type { Readings } from '@heliograph/domain/link'
import type { Mqtt } from '@heliograph/domain/node'
import mqtt from 'mqtt'
import { pino } from 'pino'
import { freePort } from '../../test/end-to-end/programs.ts'
import { Conditions } from '../conditions.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import type { Entry } from '../journal.ts'
import { Recorder } from '../recorder.ts'
import { startBroker } from './broker.ts'
import { keepingRecorder, stampsBy, station } from './fixtures/stations.ts'
import { Nodes } from './nodes.ts'

const credentials = { username: 'node', password: 'open-sesame' }
const log = pino({ level: 'silent' })
const mosquitto = '/usr/sbin/mosquitto'
const mosquitto_pub = '/usr/bin/mosquitto_pub'

function directory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-mqtt-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** The nodes of a site on a broker, and a way to wait for what they record. */
async function listening(
  t: TestContext,
  broker: Mqtt,
  access: { credentials: typeof credentials | null; ca_file?: string } = { credentials },
) {
  const changes = new EventEmitter()
  const kept = keepingRecorder()
  const messages = { taken: 0 }
  const timers = {
    // What the edge waits for with patience, a test does not.
    after: (delay_ms: number, callback: () => void) =>
      systemTimers.after(delay_ms >= 10_000 ? 20 : delay_ms, callback),
  }
  const nodes = new Nodes({
    access: { ca_file: null, ...access },
    recorder: {
      ...kept,
      async persist() {
        messages.taken += 1
        changes.emit('change')
        return true
      },
      event(event) {
        kept.event(event)
        changes.emit('change')
      },
    },
    conditions: await Conditions.open(join(directory(t), 'conditions.json')),
    stamps: stampsBy(systemClock),
    clock: systemClock,
    timers,
    log,
    onStatusChange: () => void changes.emit('change'),
  })
  t.after(() => nodes.stop())
  const site = siteOf([inverterOf(1)], { mqtt: broker, nodes: [station] })
  await nodes.apply(site)
  const until = async (condition: () => boolean) => {
    while (!condition()) await once(changes, 'change')
  }
  return { ...kept, messages, nodes, site, until }
}

const stateOf = (oil: number, at = Date.now()) =>
  JSON.stringify({ measured_at: at, temperatures_c: { oil } })

test('a node on the broker of the edge: readings, last will, password required', async (t) => {
  const port = await freePort()
  const { nodes, readings, until } = await listening(t, { listen: { port } })
  const url = `mqtt://127.0.0.1:${port}`
  const stranger = mqtt.connect(url, { ...credentials, password: 'wrong', reconnectPeriod: 0 })
  const refusal = await new Promise<Error>((resolve) => stranger.once('error', resolve))
  stranger.end(true)
  assert.match(refusal.message, /Not authorized/)

  const node = await mqtt.connectAsync(url, {
    ...credentials,
    protocolVersion: 4,
    will: {
      topic: 'heliograph/ts-1/status',
      payload: Buffer.from('offline'),
      qos: 1,
      retain: true,
    },
  })
  await node.publishAsync('heliograph/ts-1/status', 'online', { qos: 1, retain: true })
  const at = Date.now()
  await node.publishAsync('heliograph/ts-1/state', stateOf(40, at), { qos: 1, retain: true })
  await node.publishAsync('heliograph/ts-9/state', stateOf(99), { qos: 1 })
  await until(() => readings.length > 0 && nodes.status()[0]?.comm_state === 'connected')
  assert.deepEqual(readings, [
    {
      node_number: 7,
      measured_at: at,
      quality: 'good',
      channel_values: [40, null, null, null, null],
    },
  ])
  node.stream.destroy()
  await until(() => nodes.status()[0]?.comm_state === 'disconnected')
  node.end(true)
})

test('a message outside the prefix is refused', async (t) => {
  const needs = { host: '127.0.0.1', port: 0, prefix: 'heliograph', credentials, log }
  const heard: string[] = []
  const onMessage = async ({ topic }: { topic: string }) => {
    heard.push(topic)
  }
  const broker = await startBroker({ ...needs, onMessage })
  t.after(() => broker.close())
  const url = `mqtt://127.0.0.1:${broker.port}`
  for (const topic of ['$SYS/broker', 'heliograph', 'other/ts-1/state']) {
    const client = await mqtt.connectAsync(url, { ...credentials, reconnectPeriod: 0 })
    const closed = new Promise<string>((resolve) => client.once('close', () => resolve('closed')))
    const taken = client.publishAsync(topic, 'x', { qos: 1 }).then(
      () => 'taken',
      () => closed,
    )
    assert.equal(await Promise.race([closed, taken]), 'closed', topic)
    client.end(true)
  }
  const node = await mqtt.connectAsync(url, { ...credentials, reconnectPeriod: 0 })
  await node.publishAsync('heliograph/ts-1/state', 'x', { qos: 1 })
  assert.deepEqual(heard, ['heliograph/ts-1/state'])
  await node.endAsync()
})

test('without credentials the broker does not start, which is reported', async (t) => {
  const { events, until } = await listening(t, { listen: { port: 1 } }, { credentials: null })
  await until(() => events.length > 0)
  assert.match(events[0]!.message, /MQTT_CREDENTIALS_FILE is not set/)
})

test('a port in use is reported, and served once it is free', async (t) => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const { port } = blocker.address() as AddressInfo
  const { events, until } = await listening(t, { listen: { port } })
  const told = () => events.map(({ code, edge }) => `${code} ${edge}`)
  assert.deepEqual(told(), ['mqtt_disconnected rising'])
  blocker.close()
  await until(() => told().includes('mqtt_disconnected falling'))
})

test('a node removed from the site file is no longer served, and its conditions end', async (t) => {
  const { nodes, site, events } = await listening(t, { listen: { port: await freePort() } })
  const second = { ...station, node_id: 'ts-2', node_number: 8 }
  await nodes.apply({ ...site, nodes: [station, second] })
  assert.deepEqual(
    nodes.status().map(({ id }) => id),
    ['ts-1', 'ts-2'],
  )
  await nodes.apply({ ...site, nodes: [] })
  assert.deepEqual([nodes.status(), nodes.port, events], [[], null, []])
})

/** A mosquitto with one user, over TLS where a certificate is given. */
async function startMosquitto(t: TestContext, dir: string, certificate = '') {
  const port = await freePort()
  const passwords = join(dir, 'passwords')
  const configuration = join(dir, 'mosquitto.conf')
  execFileSync('/usr/bin/mosquitto_passwd', ['-b', '-c', passwords, 'node', 'open-sesame'])
  writeFileSync(
    configuration,
    `user root\nlistener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\n` +
      certificate,
  )
  const child = spawn(mosquitto, ['-c', configuration], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(async () => {
    const exit = once(child, 'exit')
    child.kill()
    await exit
  })
  for await (const chunk of child.stderr) if (String(chunk).includes('running')) break
  child.stderr.resume()
  return port
}

test('mosquitto_pub as a node on the broker of the edge', async (t) => {
  if (!existsSync(mosquitto_pub)) return t.skip("Debian's mosquitto-clients is not installed")
  const port = await freePort()
  const { readings, until } = await listening(t, { listen: { port } })
  const child = spawn(mosquitto_pub, [
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-u',
    'node',
    '-P',
    'open-sesame',
    '-q',
    '1',
    '-V',
    'mqttv311',
    '-t',
    'heliograph/ts-1/state',
    '-m',
    stateOf(55),
    '-r',
  ])
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  await until(() => readings.length > 0)
  assert.equal(readings[0]?.channel_values?.[0], 55)
})

/** A site whose disk can be full; `refused` is what could not be written to the journal. */
async function journaling(t: TestContext, broker: Mqtt) {
  const changes = new EventEmitter()
  const disk = { is_full: false, refused: [] as unknown[] }
  const values: unknown[] = []
  const journal = {
    epoch: 'e',
    last_seq: 0,
    async append(entries: readonly Entry[]) {
      const oils = entries.flatMap(({ kind, payload }) => {
        if (kind !== 'readings') return []
        const { columns, rows } = (JSON.parse(payload) as Readings).node!
        const column = columns.indexOf('channel_values')
        return rows.map((row) => (row[column] as unknown[])[0])
      })
      const { is_full, refused } = disk
      ;(is_full ? refused : values).push(...oils)
      changes.emit('change')
      if (is_full) throw new Error('ENOSPC: no space left on device')
      return []
    },
  }
  const conditions = await Conditions.open(join(directory(t), 'conditions.json'))
  const needs = { conditions, clock: systemClock, timers: systemTimers, log }
  const source = { source_kind: 'edge', source_id: 'demo' } as const
  const recorder = new Recorder({ ...needs, source, journal })
  const nodes = new Nodes({
    ...needs,
    access: { ca_file: null, credentials },
    recorder,
    stamps: stampsBy(systemClock),
    onStatusChange: () => void changes.emit('change'),
  })
  t.after(async () => {
    await nodes.stop()
    await recorder.close()
  })
  await nodes.apply(siteOf([inverterOf(1)], { mqtt: broker, nodes: [station] }))
  const until = async (condition: () => boolean) => {
    while (!condition()) await once(changes, 'change')
  }
  return { disk, values, recorder, until }
}

test('the broker of the edge acknowledges only what is in the journal', async (t) => {
  const port = await freePort()
  const { disk, values, recorder, until } = await journaling(t, { listen: { port } })
  disk.is_full = true
  const node = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, {
    ...credentials,
    clientId: 'ts-1',
    clean: false,
    protocolVersion: 4,
    reconnectPeriod: 20,
  })
  t.after(() => node.endAsync(true))
  let acknowledged = 0
  const at = Date.now()
  const published = [1, 2, 3].map(async (nth) => {
    const state = stateOf(50 + nth, at + nth)
    await node.publishAsync('heliograph/ts-1/state', state, { qos: 1 })
    acknowledged += 1
  })
  await until(() => disk.refused.length > 3)
  assert.equal(acknowledged, 0)
  disk.is_full = false
  await Promise.all(published)
  assert.deepEqual(new Set(values), new Set([51, 52, 53]))
  assert.equal(recorder.counts.readings_lost, 0)
})

test('mosquitto sends unacknowledged messages again', async (t) => {
  if (!existsSync(mosquitto)) return t.skip("Debian's mosquitto is not installed")
  const url = `mqtt://127.0.0.1:${await startMosquitto(t, directory(t))}`
  const { disk, values, recorder, until } = await journaling(t, { url })
  const node = await mqtt.connectAsync(url, credentials)
  t.after(() => node.endAsync(true))
  const at = Date.now()
  await node.publishAsync('heliograph/ts-1/state', stateOf(50, at), { qos: 1, retain: true })
  await until(() => values.includes(50))
  disk.is_full = true
  for (const nth of [1, 2, 3]) {
    await node.publishAsync('heliograph/ts-1/state', stateOf(50 + nth, at + nth), { qos: 1 })
  }
  await until(() => disk.refused.includes(51))
  disk.is_full = false
  await until(() => values.length >= 4)
  assert.deepEqual(new Set(values), new Set([50, 51, 52, 53]))
  assert.equal(recorder.counts.readings_lost, 0)
})

test('a status retained by mosquitto brings no node online', async (t) => {
  if (!existsSync(mosquitto)) return t.skip("Debian's mosquitto is not installed")
  const url = `mqtt://127.0.0.1:${await startMosquitto(t, directory(t))}`
  const node = await mqtt.connectAsync(url, credentials)
  t.after(() => node.endAsync(true))
  const kept = { qos: 1, retain: true } as const
  await node.publishAsync('heliograph/ts-1/status', 'online', kept)
  await node.publishAsync('heliograph/ts-1/state', stateOf(41), kept)
  const { nodes, messages, readings, until } = await listening(t, { url })
  await until(() => messages.taken === 2)
  assert.equal(readings.length, 1)
  assert.deepEqual(
    nodes.status().map(({ comm_state, last_ok_at }) => [comm_state, last_ok_at]),
    [['unknown', null]],
  )
})

test('mosquitto as the broker delivers messages from an outage of the edge, over TLS', async (t) => {
  if (!existsSync(mosquitto)) return t.skip("Debian's mosquitto is not installed")
  const dir = directory(t)
  const [ca_file, key] = [join(dir, 'ca.pem'), join(dir, 'key.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=broker',
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      ca_file,
    ],
    { stdio: 'ignore' },
  )
  const port = await startMosquitto(t, dir, `certfile ${ca_file}\nkeyfile ${key}\n`)
  const broker = { url: `mqtts://127.0.0.1:${port}`, prefix: 'park/nodes' }
  const access = { credentials, ca_file }
  const node = await mqtt.connectAsync(broker.url, { ...credentials, ca: readFileSync(ca_file) })
  t.after(() => node.endAsync(true))
  const first = await listening(t, broker, access)
  await node.publishAsync('park/nodes/ts-1/state', stateOf(41, Date.now()), {
    qos: 1,
    retain: true,
  })
  await first.until(() => first.readings.length > 0)
  await first.nodes.stop()
  const at = Date.now()
  for (const nth of [1, 2, 3]) {
    await node.publishAsync('park/nodes/ts-1/state', stateOf(50 + nth, at + nth), { qos: 1 })
  }
  const second = await listening(t, broker, access)
  const values = () => second.readings.map(({ channel_values }) => channel_values?.[0])
  await second.until(() => values().includes(53))
  assert.deepEqual(
    values().filter((value) => value !== 41),
    [51, 52, 53],
  )

  const distrustful = await listening(t, broker, { credentials })
  await distrustful.until(() => distrustful.events.length > 0)
  assert.match(distrustful.events[0]!.message, /self.signed certificate/)
})

/** The station within the agent, over real sockets. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { RowReport } from '@heliograph/domain/curtailment'
import type { Iec104 } from '@heliograph/domain/iec104'
import { agentPlace } from '../fixtures/agent-place.ts'
import { makeLimitable } from '../fixtures/driver.ts'
import { inverterOf, siteOf } from '../fixtures/sites.ts'
import { Peer } from './fixtures/peer.ts'

const list = `address,type,meaning,of,scale
100,M_ME_TF_1,active_power_kw,plant 1,1
101,M_ME_TF_1,setpoint_mirror_pct,plant 1,1
200,C_SE_NC_1,setpoint_pct,plant 1,1
`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((ended) => server.close(ended))
  return port
}

async function placeOf(t: TestContext, more: Partial<Iec104> = {}) {
  const place = await agentPlace(t)
  const port = await freePort()
  const iec104: Iec104 = {
    points: './points.csv',
    common_address: 7,
    listen: { host: '127.0.0.1', port },
    centres: [{ group: 'north', allowed_addresses: ['127.0.0.1'] }],
    ...more,
  }
  const site = siteOf([inverterOf(1)], { poll: { inverter_s: 0.2, logger_s: 0.2 }, iec104 })
  const writeList = (text: string) => writeFileSync(join(place.dir, 'points.csv'), text)
  writeList(list)
  place.write(site)
  place.writePermit({ site_id: site.site_id, permit_w: 90_000 })
  const device = place.driver.deviceAt(1)
  makeLimitable(device, (limit_w) => {
    device.values['ac_power_kw'] = limit_w / 1000
  })
  device.values['ac_power_kw'] = 100
  return { ...place, site, port, device, writeList }
}

async function centreOn(t: TestContext, socket: Socket) {
  t.after(() => socket.destroy())
  const peer = new Peer({ write: (bytes) => void socket.write(bytes) })
  socket.on('error', () => {})
  let told = () => {}
  socket.on('data', (bytes: Buffer) => {
    peer.take(bytes)
    told()
  })
  const until = async (words: string | RegExp) => {
    while (!peer.received.some((one) => one.match(words))) {
      await new Promise<void>((resolve) => {
        told = resolve
      })
    }
  }
  return { peer, until }
}

/** Whatever ends it. */
function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {})
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** Until the station listens. */
async function reach(port: number): Promise<Socket> {
  for (;;) {
    const socket = connectTcp(port, '127.0.0.1')
    const is_open = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    if (is_open) return socket
  }
}

test('a setpoint over TCP limits the inverter, is mirrored, and is reported', async (t) => {
  const { port, device, start, server, payloads } = await placeOf(t)
  await start()
  const { peer, until } = await centreOn(t, await reach(port))
  peer.function('start_act')
  await until('M_EI_NA_1 4')
  peer.command('C_SE_NC_1', { address: 200, value: 30 })
  await until('C_SE_NC_1 10 200=30')
  await until(/ 3 .*101=30/)
  await until(/ 3 100=30/)
  assert.equal(device.limit!.limit_w, 30_000)
  const reports = () =>
    payloads()
      .filter(Array.isArray)
      .flat()
      .filter((one) => one.row) as RowReport[]
  await server.until(() => reports().some(({ verified_at }) => verified_at !== null))
  const { row } = reports().at(-1)!
  assert.equal(row.source, 'grid_operator')
  assert.equal(row.max_power_kw, 30)
})

test('an address that is not listed is disconnected at once', async (t) => {
  const centres = [{ group: 'north', allowed_addresses: ['192.0.2.1'] }]
  const { port, start } = await placeOf(t, { centres })
  await start()
  const socket = await reach(port)
  t.after(() => socket.destroy())
  await closed(socket)
})

test('a wrong point list keeps the site file that was in force', async (t) => {
  const { port, start, site, write, writeList, server, payloads } = await placeOf(t)
  await start()
  await reach(port).then((socket) => socket.destroy())
  writeList(`${list}201,C_SE_NC_1,setpoint_pct,plant 2,1\n`)
  const rejection = () =>
    payloads()
      .filter(Array.isArray)
      .flat()
      .find(({ code }) => code === 'site_file_rejected')
  await server.until(() => rejection() !== undefined)
  assert.match(rejection().message, /points\.csv:5: of: the site has no plant 2/)
  await reach(port).then((socket) => socket.destroy())
  const mended = () =>
    payloads()
      .filter(Array.isArray)
      .flat()
      .some(({ code, edge }) => code === 'site_file_rejected' && edge === 'falling')
  writeList(list)
  write(site)
  await server.until(mended)
})

/** Certificates of an authority, the station and a control centre. */
function certificates(dir: string): void {
  mkdirSync(dir)
  const openssl = (...words: string[]) =>
    execFileSync('openssl', words, { cwd: dir, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const days = ['-days', '2']
  openssl('req', '-x509', ...key, ...days, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca')
  for (const name of ['station', 'centre']) {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.csr`]
    openssl('req', ...key, ...files, '-subj', `/CN=${name}`)
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, ...days, '-out', `${name}.pem`)
  }
}

test('with TLS, a centre needs a certificate of the authority', async (t) => {
  const tls = {
    key_file: 'tls/station.key',
    certificate_file: 'tls/station.pem',
    ca_file: 'tls/ca.pem',
  }
  const { dir, port, start } = await placeOf(t, { tls })
  certificates(join(dir, 'tls'))
  await start()
  await reach(port).then((socket) => socket.destroy())
  const file = (name: string) => readFileSync(join(dir, 'tls', name))
  const checks = {
    ca: file('ca.pem'),
    host: '127.0.0.1',
    port,
    checkServerIdentity: () => undefined,
  }
  const known = connectTls({ ...checks, cert: file('centre.pem'), key: file('centre.key') })
  const { peer, until } = await centreOn(t, known)
  peer.function('start_act')
  await until('start_con')
  const stranger = connectTls(checks)
  const is_closed = closed(stranger)
  stranger.write(Uint8Array.of(0x68, 4, 7, 0, 0, 0))
  let answered = 0
  stranger.on('data', (bytes) => {
    answered += bytes.length
  })
  await is_closed
  assert.equal(answered, 0)
})

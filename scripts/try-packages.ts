/**
 * `npm run try-packages`: the packages of dist/packages in a clean Debian 12, as root: installed,
 * used by the commands of the guides until a simulated plant is on the platform, upgraded,
 * downgraded, removed and purged. It needs Debian's mmdebstrap. There is no systemd in a changed
 * root: the programs are started by the account, the environment and the command of their units.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const project = resolve(import.meta.dirname, '..')
const packages = join(project, 'dist/packages')
const image = join(project, 'node_modules/.cache/debian-12.tar')
const port = 18_080
const address = `http://127.0.0.1:${port}`
const patience_ms = 300_000
const began_at = performance.now()

const debs = ['edge', 'server'].map((name) => {
  const file = readdirSync(packages).find(
    (each) => each.startsWith(`heliograph-${name}_`) && each.endsWith('_amd64.deb'),
  )
  return join(packages, file ?? assert.fail('no packages for amd64: npm run package'))
})

const say = (text: string) => process.stdout.write(`${text}\n`)
const seconds = () => `${((performance.now() - began_at) / 1000).toFixed(0)} s`

function run(command: string, words: readonly string[], input?: string): string {
  return execFileSync(command, words, {
    encoding: 'utf8',
    input,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
}

/** Types a command in the clean Debian, and shows what it prints. */
function type(command: string): string {
  say(`\n# ${command}`)
  const env = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'DEBIAN_FRONTEND=noninteractive']
  const text = run('chroot', [root, ...env, 'sh', '-c', command])
  process.stdout.write(text)
  return text
}

const inRoot = (path: string) => join(root, path)

/** Starts a service as its unit says: account, environment, credentials, command. */
function start(service: string): ChildProcess {
  const unit = readFileSync(inRoot(`lib/systemd/system/${service}.service`), 'utf8')
  const all = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((m) => m[1]!)
  const [user, command] = [all('User')[0]!, all('ExecStart')[0]!]
  const [uid, gid] = run('chroot', [root, 'sh', '-c', `id -u ${user}; id -g ${user}`]).split('\n')
  const give = (path: string) => chownSync(path, Number(uid), Number(gid))
  mkdirSync(inRoot(`var/lib/${service}`), { recursive: true, mode: 0o700 })
  give(inRoot(`var/lib/${service}`))
  const credentials = `/run/credentials/${service}`
  mkdirSync(inRoot('run/credentials'), { recursive: true })
  mkdirSync(inRoot(credentials), { recursive: true, mode: 0o700 })
  give(inRoot(credentials))
  for (const [name, file] of all('LoadCredential').map(
    (each) => each.split(':') as [string, string],
  )) {
    copyFileSync(inRoot(file), inRoot(`${credentials}/${name}`))
    give(inRoot(`${credentials}/${name}`))
  }
  const environment = all('Environment').join(' ').replaceAll('%d', credentials)
  say(`\n# systemctl start ${service}   (here: ${command})`)
  const words = ['--userspec', `${uid}:${gid}`, root, 'env', '-i', ...environment.split(' ')]
  const child = spawn('chroot', [...words, ...command.split(' ')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const output of [child.stdout!, child.stderr!]) {
    output.on('data', (text: Buffer) => appendFileSync(join(tmp, `${service}.log`), text))
  }
  programs.push(child)
  child.once('exit', (code) => {
    if (ended.has(child)) return
    say(readFileSync(join(tmp, `${service}.log`), 'utf8').slice(-2000))
    say(`${service} ended by itself (${code})`)
    process.exit(1)
  })
  return child
}

const ended = new Set<ChildProcess>()

async function stop(child: ChildProcess): Promise<void> {
  ended.add(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
}

/** Repeats a read until its answer is as wanted. */
async function until<Answer>(
  read: () => Promise<Answer>,
  isWanted: (answer: Answer) => boolean,
): Promise<Answer> {
  const until_ms = performance.now() + patience_ms
  for (;;) {
    const answer = await read().catch((error: Error) => error)
    if (!(answer instanceof Error) && isWanted(answer)) return answer
    if (performance.now() > until_ms) throw new Error('it took too long', { cause: answer })
    await wait(500)
  }
}

/** The first administrator, who uses the link and signs in; returns how the pages then write. */
async function administrator(token: string) {
  const account = { email: 'ada@example.com', password: 'a long sentence of mine' }
  let cookie = ''
  const write = async (path: string, body: object) => {
    const headers = {
      'content-type': 'application/json',
      'x-heliograph-session': '1',
      origin: address,
      cookie,
    }
    const answer = await fetch(`${address}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    const cookies = answer.headers.getSetCookie().map((one) => one.split(';', 1)[0])
    if (cookies.length > 0) cookie = cookies.join('; ')
    return await answer.json()
  }
  await write('/platform/invitations/accept', { token, name: 'Ada', ...account })
  await write('/platform/auth/sign-in/email', account)
  return write
}

const get = async (path: string, key?: string) => {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  return await (await fetch(`${address}${path}`, { headers })).json()
}

/** The same package under another version. */
function renamed(deb: string, version: string): string {
  const folder = mkdtempSync(join(tmp, 'deb-'))
  run('dpkg-deb', ['-R', deb, folder])
  const control = join(folder, 'DEBIAN/control')
  writeFileSync(
    control,
    readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}`),
  )
  const file = join(root, 'tmp', basename(deb).replace(/_[^_]+_/, `_${version}_`))
  run('dpkg-deb', ['-Zgzip', '-z1', '--root-owner-group', '-b', folder, file])
  rmSync(folder, { recursive: true })
  return `/tmp/${basename(file)}`
}

const programs: ChildProcess[] = []
const tmp = mkdtempSync(join(tmpdir(), 'heliograph-packages-'))
const root = join(tmp, 'root')
process.on('exit', () => {
  for (const child of programs) child.kill('SIGKILL')
  // The devices of the image are its own: nothing of this machine is below the folder but `proc`.
  if (existsSync(inRoot('proc/self'))) run('umount', ['--lazy', inRoot('proc')])
  rmSync(tmp, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

if (!existsSync(image)) {
  say('Making a clean Debian 12 …')
  mkdirSync(join(image, '..'), { recursive: true })
  const words = [
    '--variant=minbase',
    '--include=systemd,ca-certificates',
    'bookworm',
    `${image}.partial.tar`,
  ]
  run('mmdebstrap', words)
  run('mv', [`${image}.partial.tar`, image])
}
mkdirSync(root)
run('tar', ['-xf', image, '-C', root])
run('mount', ['-t', 'proc', 'proc', inRoot('proc')])
run('chmod', ['1777', inRoot('dev/shm')])
// No service starts in a root without systemd.
writeFileSync(inRoot('usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
for (const deb of debs) copyFileSync(deb, inRoot(`tmp/${basename(deb)}`))
const files = debs.map((deb) => `/tmp/${basename(deb)}`).join(' ')
say(`A clean Debian 12 is ready after ${seconds()}.`)

const installing_at = performance.now()
copyFileSync('/etc/resolv.conf', inRoot('etc/resolv.conf'))
type('apt-get update 2>&1 | tail -1')
type(`apt-get install -y --no-install-recommends ${files} 2>&1 | tail -3`)
for (const name of ['edge', 'server']) {
  const service = `heliograph-${name}`
  assert.match(run('chroot', [root, 'id', service]), /uid=/)
  const wants = 'etc/systemd/system/multi-user.target.wants'
  assert.ok(existsSync(inRoot('etc')) && readdirSync(inRoot(wants)).includes(`${service}.service`))
  assert.equal(statSync(inRoot(`usr/lib/${service}/bin/node`)).mode & 0o777, 0o755)
}
type(`echo PORT=${port} >> /etc/heliograph/server.conf`)
let server = start('heliograph-server')
await until(
  () => get('/readyz'),
  ({ status }) => status === 'ready',
)
const asServer = (command: string) =>
  type(
    `setpriv --reuid heliograph-server --regid heliograph-server --clear-groups heliograph ${command}`,
  )
asServer('clients create "Sunny Fields" --modules basic_scada')
const invitation = asServer('users invite --client "Sunny Fields" --role administrator')
const ask = await administrator(/\/invitation#(\S+)/.exec(invitation)![1]!)
await ask('/platform/sites', { site_id: 'demo', name: 'North field' })
const { key } = await ask('/platform/keys', { name: 'reporting', scopes: ['plant:read'] })
const { code } = await ask('/platform/enrolments', { site_id: 'demo' })
const demo = join(project, 'simulator/demo')
copyFileSync(join(demo, 'site.yaml'), inRoot('etc/heliograph/site.yaml'))
copyFileSync(join(demo, 'permit.yaml'), inRoot('etc/heliograph/permit.yaml'))
type(`heliograph-edge setup --server ${address} ${code}`)
assert.equal(statSync(inRoot('etc/heliograph/edge-token')).mode & 0o777, 0o600)
const simulator = spawn(process.execPath, ['simulator/main.ts'], {
  cwd: project,
  env: {
    ...process.env,
    SITE_FILE: join(demo, 'site.yaml'),
    STATE_FILE: join(tmp, 'simulator.json'),
  },
  stdio: 'ignore',
})
programs.push(simulator)
let edge = start('heliograph-edge')
const answers = (answer: { age_s: number | null }) => answer.age_s !== null && answer.age_s < 60
const status = await until(() => get('/v1/sites/demo/plant/status', key), answers)
say(
  `\nThe plant is on the platform ${((performance.now() - installing_at) / 1000).toFixed(0)} s after the start of the installation: ${JSON.stringify(status).slice(0, 200)}…`,
)
type('heliograph-edge limits | head -5')
for (const [service, child] of [
  ['edge', edge],
  ['server', server],
] as const) {
  const kb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1])
  say(`heliograph-${service}: ${(kb / 1024).toFixed(0)} MB resident`)
}

for (const [what, version] of [
  ['upgraded', '9.9.9'],
  ['downgraded', '0.0.1'],
] as const) {
  await stop(edge)
  await stop(server)
  const changed = debs.map((deb) => renamed(deb, version)).join(' ')
  type(`dpkg -i ${changed} 2>&1 | tail -2`)
  assert.match(readFileSync(inRoot('etc/heliograph/edge.conf'), 'utf8'), /^SERVER_URL=/m)
  server = start('heliograph-server')
  await until(
    () => get('/readyz'),
    ({ status }) => status === 'ready',
  )
  const before = new Date().toISOString()
  edge = start('heliograph-edge')
  await until(
    () => get('/v1/sites/demo/plant/status', key),
    (answer) => answer.measured_at > before,
  )
  say(`\n${what}: the plant goes on`)
}
await stop(edge)
await stop(server)
type('dpkg --remove heliograph-edge heliograph-server 2>&1 | tail -2')
assert.ok(
  existsSync(inRoot('etc/heliograph/edge.conf')) && existsSync(inRoot('var/lib/heliograph-server')),
)
type('dpkg --purge heliograph-edge heliograph-server 2>&1 | tail -2')
for (const gone of [
  'etc/heliograph/edge-token',
  'etc/heliograph/edge.conf',
  'etc/heliograph/server.conf',
  'var/lib/heliograph-edge',
  'var/lib/heliograph-server',
  'usr/lib/heliograph-edge',
  'usr/lib/heliograph-server',
]) {
  assert.ok(!existsSync(inRoot(gone)), `${gone} is left`)
}
say(`\nInstalled, used, upgraded, downgraded, removed and purged in ${seconds()}.`)
process.exit(0)

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@heliograph/domain/clock'
import { parseSiteFile } from '@heliograph/domain/site-file'
import { createRawDevice, rtuException, rtuWords } from '../bus/fixtures/raw-device.ts'
import { allProfiles } from '../drivers/drivers.ts'
import { profiledUnit, sunspecUnit, type Unit } from './fixtures/fleet.ts'
import { scanCommand } from './scan-command.ts'

const python = '/usr/bin/python3'
const illegal_address = 2

test('devices on a serial line are found, and the file that is written has the line', async (t) => {
  if (!existsSync(python)) return t.skip(`${python} is not there: install Debian's python3`)
  const profiles = allProfiles()
  const units: Readonly<Record<number, Unit>> = {
    2: profiledUnit(profiles.get('janitza_umg')!, 1),
    3: sunspecUnit('SN-3'),
  }
  const device = await createRawDevice({
    framing: 'rtu',
    onRequest(request, send) {
      const unit = units[request.unit_id]
      if (!unit) return
      const table = request.function_code === 4 ? unit.input : unit.holding
      const words = Array.from({ length: request.count }, (_, nth) =>
        table.get(request.address + nth),
      )
      const known = words.filter((word) => word !== undefined)
      const is_there = known.length === words.length
      send(is_there ? rtuWords(request, known) : rtuException(request, illegal_address))
    },
  })
  const bridge = spawn(python, [
    fileURLToPath(new URL('../bus/fixtures/bridge-pty.py', import.meta.url)),
    String(device.port),
  ])
  const dir = mkdtempSync(join(tmpdir(), 'heliograph-scan-serial-'))
  t.after(async () => {
    bridge.stdin.end('\n')
    await once(bridge, 'exit')
    await device.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const [printed] = await once(bridge.stdout, 'data')
  const path = String(printed).trim()
  const out = join(dir, 'site.yaml')
  const notes: string[] = []
  await scanCommand(
    [],
    { ports: '502', units: '1-4', baud: '19200', parity: 'even', serial: [path], out },
    {
      clock: systemClock,
      data_dir: dir,
      note: (text) => notes.push(text),
      say: async () => {},
    },
  )
  const parsed = parseSiteFile(readFileSync(out, 'utf8'))
  assert.ok('site' in parsed, JSON.stringify(parsed))
  const { connections, loggers, meters = [] } = parsed.site
  assert.deepEqual(
    connections.map(({ connection_id: _, ...line }) => line),
    [{ protocol: 'modbus_rtu', path, baud_rate: 19_200, parity: 'even' }],
  )
  const found = [...loggers[0]!.inverters, ...meters]
  assert.deepEqual(
    found.map(({ unit_id, driver }) => [unit_id, driver]),
    [
      [3, 'sunspec'],
      [2, 'janitza_umg'],
    ],
    notes.join('\n'),
  )
  // Nothing is written.
  const codes = new Set(device.requests.map(({ function_code }) => function_code))
  assert.deepEqual([...codes].toSorted(), [3, 4])
})

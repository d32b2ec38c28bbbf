/** A site whose whole API is served on a port, with a day of readings, a report and a key. */
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as open, type Socket } from 'node:net'
import { connect } from '@heliograph/sdk'
import { addKey, addReading, type ServedSite, servedSite } from '../server/fixtures/served-site.ts'
import { templates } from '../server/reports/catalog.ts'
import { makeReports } from '../server/reports/making.ts'
import { createReportWriter } from '../server/reports/writers/write.ts'
import { silent } from './postgres.ts'

export interface SdkSite extends ServedSite {
  base_url: string
  api_key: string
  /** Of the readings of inverter 1, ascending, a minute apart up to now. */
  minutes: string[]
}

export async function sdkSite(now: Date, minute_count: number): Promise<SdkSite> {
  const site = await servedSite()
  site.clock.set(now)
  const api_key = await addKey(site.db, { key_id: 'ad0000000001' })
  await site.db.execute('update api_keys set write_per_minute = 100000')
  const minutes = Array.from({ length: minute_count }, (_, index) =>
    new Date(now.getTime() - (minute_count - index) * 60_000).toISOString(),
  )
  for (const [index, measured_at] of minutes.entries()) {
    await addReading(site.db, 'inverter', { measured_at, inverter_id: 1, ac_power_kw: index })
  }
  await site.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = site.app.server.address() as AddressInfo
  return { ...site, base_url: `http://127.0.0.1:${port}`, api_key, minutes }
}

/** A way to the server that loses the first answer: the request arrives, its connection is cut. */
export async function cuttingProxy(base_url: string) {
  let cuts = 0
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = open({ host: '127.0.0.1', port: Number(new URL(base_url).port) })
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        server.destroy()
      })
    }
    client.pipe(server)
    server.on('data', (bytes) => {
      if (cuts === 0) {
        cuts += 1
        client.destroy()
      } else client.write(bytes)
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    base_url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cuts: () => cuts,
    close() {
      proxy.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Orders a report by the API and has the job make it; its run. */
export async function madeReport(site: SdkSite): Promise<string> {
  const heliograph = connect({ base_url: site.base_url, api_key: site.api_key })
  const { sub_id } = await heliograph.reportSubscriptionCreate({
    site_id: 'demo',
    name: 'Daily',
    template_id: 'availability',
    format: 'csv',
    frequency: 'daily',
    period: 'previous_day',
    recipients: ['one@example.com'],
  })
  const { run_id } = await heliograph.reportSubscriptionRun({ site_id: 'demo', sub_id })
  await makeReports({
    db: site.db,
    clock: site.clock,
    log: silent,
    signal: new AbortController().signal,
    catalog: templates,
    writer: createReportWriter(),
  })
  return run_id
}

import { agentEndpoints } from '../../server/agents/endpoints.ts'
import { keepAlerts } from '../../server/alerts/fixtures/kept-alerts.ts'
import { addBatteries, addBatteryReadings } from '../../server/batteries/fixtures/battery-site.ts'
import {
  addPrices,
  assignMarket,
  keepSchedules,
} from '../../server/batteries/fixtures/schedule-site.ts'
import { endpoints as ofSites } from '../../server/endpoints.ts'
import { servedSite } from '../../server/fixtures/served-site.ts'
import { keepReports, kept_run_id } from '../../server/reports/fixtures/kept-reports.ts'
import { keepDefects } from '../../server/work/defects/fixtures/kept-defects.ts'
import { keepWorkOrders } from '../../server/work/orders/fixtures/kept-orders.ts'
import { testConventions } from './conventions.ts'
import { testExtremeValues } from './extremes.ts'
import { addFixtures } from './fixtures.ts'
import { testAnyRequest } from './fuzz.ts'

async function setUp() {
  const { app, db, clock, close } = await servedSite()
  const fixtures = await addFixtures(db, { site_id: 'demo', client_id: 1 })
  await db.execute(
    `INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
       updated_at)
     VALUES ('demo', '1', 1, 'Node', 'cabinet', 60, '[]', now(), now())`,
  )
  await addBatteries(db)
  await addBatteryReadings(db, new Date(clock.now().getTime() - 1000).toISOString())
  await assignMarket(db)
  await addPrices(db, { date: '2026-06-21' })
  await db.query(`
    INSERT INTO curtailment_groups (site_id, group_id, source, created_at)
    VALUES ('demo', '1', 'edge_local', now());
    INSERT INTO curtailment_rows (site_id, group_id, logger_id, start_at, end_at, max_power_kw)
    VALUES ('demo', '1', 1, '2026-06-21', '2026-06-22', 50)`)
  const values = {
    ...fixtures.values,
    market_code: 'AT',
    date: '2026-06-21',
    start_hour: '11',
    end_hour: '14',
    hour: '20',
    run_id: kept_run_id,
  }
  await app.inject({
    method: 'POST',
    url: '/v1/sites/demo/bess/1/optimize',
    headers: { authorization: `Bearer ${fixtures.keys.full}` },
  })
  const restorers = [
    await keepAlerts(db),
    await keepSchedules(db),
    await keepWorkOrders(db),
    await keepDefects(db, clock.now()),
    await keepReports(db),
  ]
  const restore = async () => {
    for (const one of restorers) await one()
  }
  const [notified] = await db.query('select notification_id::text from om_notifications')
  const of = {
    work_order_approve: { wo_id: '2' },
    om_notification_read: notified as { notification_id: string },
  }
  return { app, fixtures: { ...fixtures, values, of }, restore, drop: close }
}

const endpoints = [...ofSites, ...agentEndpoints]

testConventions(endpoints, setUp)
/** Of the whole table, drawn anew each time; `npm run soak -- --part fuzz` sends any number. */
const requests = 250
testAnyRequest(endpoints, setUp, requests)
testExtremeValues(endpoints, setUp, requests)

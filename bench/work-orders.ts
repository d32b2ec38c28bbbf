/**
 * Latency of the lists of 100,000 work orders, as many defects and as many notifications of a site,
 * with every set of their filters, at both ends of the list: the slowest of fifty requests.
 * `--each` prints every list; a path, such as `/defects`, measures those below it alone.
 */
import type { Database } from '@heliograph/server/storage/database'
import { quantile, tell, tellLatency, timesOf, waitsOf } from './fixtures/figures.ts'
import { quickOr } from './fixtures/quick.ts'
import { servedPlant } from './fixtures/served-plant.ts'

const rows_of_each = quickOr(1_000, 100_000)
const items_of_each = 6
const limit_ms = 50
const rounds = quickOr(2, 50)

await using plant = await servedPlant({ inverters: 280, strings: 1 })
await addWorkOrders(plant.db)
await addDefects(plant.db)
await addNotifications(plant.db)
await plant.db.execute('vacuum analyze')
const below = process.argv.find((word, at) => at > 1 && word.startsWith('/')) ?? '/'
for (const [what, all] of Object.entries(allLists())) {
  const lists = all.filter((path) => path.startsWith(below))
  if (lists.length > 0) await measure(what, lists)
}

async function measure(what: string, lists: readonly string[]): Promise<void> {
  let worst = { asked: '', p99_ms: 0, times_ms: [] as number[] }
  for (const asked of lists) {
    const times_ms = await timesOf(() => plant.fetch(asked), { rounds, warmings: 3 })
    if (process.argv.includes('--each')) tell(true, `${asked}: ${waitsOf(times_ms)}`)
    const p99_ms = quantile(times_ms, 0.99)
    if (p99_ms > worst.p99_ms) worst = { asked, p99_ms, times_ms }
  }
  const { asked, times_ms } = worst
  tellLatency(
    `${rows_of_each} ${what}, the slowest of ${lists.length} lists (${asked})`,
    times_ms,
    limit_ms,
  )
}

/** Every set of filters, with many and with few matches, at both ends of the list. */
function allLists(): Record<string, string[]> {
  return {
    'work orders': [
      ...listsBy('/work-orders', [
        ['status=approved', 'status=open'],
        ['location_id=3'],
        ['logger_id=3'],
        ['assigned_to=crew%203', 'assigned_to=nobody'],
        ['start=2021-01-01T00:00:00Z', 'start=2023-08-01T00:00:00Z&end=2023-09-01T00:00:00Z'],
      ]),
      `/work-orders?status=approved&limit=200&offset=${rows_of_each * 0.5 - 200}`,
    ],
    defects: listsBy('/defects', [
      ['status=verified', 'status=open'],
      ['severity=low', 'severity=critical'],
      ['location_id=3'],
      ['logger_id=3'],
    ]),
    notifications: [
      ...listsBy('/om/notifications', [['unread_only=true']]),
      `/om/notifications?unread_only=true&limit=200&offset=${rows_of_each * 0.5 - 200}`,
      '/om/notifications/unread-count',
    ],
  }
}

function listsBy(path: string, filters: readonly string[][]): string[] {
  const sets = filters.reduce<string[][]>(
    (known, choices) => known.flatMap((set) => [set, ...choices.map((choice) => [...set, choice])]),
    [[]],
  )
  const pages = ['limit=200', `limit=200&offset=${rows_of_each - 200}`]
  return [...sets.map((set) => set.join('&')), ...pages].map((query) => `${path}?${query}`)
}

/** Orders of four years, mostly approved, each with a text, a checklist and an alert. */
async function addWorkOrders(db: Database): Promise<void> {
  await db.execute(
    `insert into locations (site_id, location_id, type, name, created_at, updated_at)
     select 'plant', n, 'area', 'Area ' || n, now(), now() from generate_series(0, 39) n
     on conflict do nothing`,
  )
  await db.execute(
    `insert into work_orders (site_id, number, title, description, type, priority, status,
       location_id, logger_id, assigned_to, created_by, created_at, updated_at, response_due_at,
       resolution_due_at)
     select 'plant', 'WO-' || n, 'Work ' || n, repeat('What is to be done about it. ', 20),
       'corrective', 'normal',
       (array['open', 'assigned', 'in_progress', 'on_hold', 'completed', 'cancelled'])[1 + n / 2 % 6],
       n % 40, n % 28 + 1, 'crew ' || n % 12, 'bench', at, at, at, at
     from generate_series(1, $1::int) n,
       lateral (select timestamptz '2020-01-01' + n * interval '20 minutes' as at) t`,
    [rows_of_each],
  )
  await db.execute("update work_orders set status = 'approved' where wo_id % 2 = 0")
  await db.execute(
    `insert into work_order_items (site_id, wo_id, position, title, type, required, status)
     select site_id, wo_id, position, 'Look', 'check', true, 'passed'
     from work_orders, generate_series(1, $1::int) position`,
    [items_of_each],
  )
  await db.execute(
    'insert into work_order_alerts select site_id, wo_id, wo_id from work_orders where wo_id % 2 = 0',
  )
}

/** Defects, half of them verified, each with a text and every other one with an alert. */
async function addDefects(db: Database): Promise<void> {
  await db.execute(
    `insert into defects (site_id, number, title, description, severity, status, location_id,
       logger_id, wo_id, detected_at, reported_by, created_at, updated_at)
     select 'plant', 'DEF-' || n, 'Defect ' || n, repeat('What was found at it. ', 20),
       (array['low', 'medium', 'high', 'critical'])[1 + n % 4],
       case when n % 2 = 0 then 'verified'
         else (array['open', 'in_progress', 'resolved', 'dismissed'])[1 + n / 2 % 4] end,
       n % 40, n % 28 + 1, n, at, 'bench', at, at
     from generate_series(1, $1::int) n,
       lateral (select timestamptz '2020-01-01' + n * interval '20 minutes' as at) t`,
    [rows_of_each],
  )
  await db.execute(
    `insert into defect_alerts
     select site_id, defect_id, defect_id from defects where defect_id % 2 = 0`,
  )
}

/** Notifications, half of them unread. */
async function addNotifications(db: Database): Promise<void> {
  await db.execute(
    `insert into om_notifications (site_id, created_at, type, title, body, severity, recipient,
       resource_type, resource_id, expires_at)
     select 'plant', now(), (array['work_order_assigned', 'defect_created', 'system'])[1 + n % 3],
       'Notification ' || n, repeat('What happened. ', 10), 'info', 'crew ' || n % 12,
       'work_order', n::text, now() + interval '90 days'
     from generate_series(1, $1::int) n`,
    [rows_of_each],
  )
  await db.execute(
    `insert into notification_reads (site_id, client_id, notification_id, type, created_at,
       expires_at, read_at)
     select site_id, client_id, notification_id, type, n.created_at, expires_at,
       case when notification_id % 2 = 0 then now() end
     from om_notifications n join sites using (site_id)`,
  )
}

import { endpoints } from '../../server/endpoints.ts'
import { servedSite } from '../../server/features/fixtures/served-site.ts'
import { testConventions } from './conventions.ts'
import { addFixtures } from './fixtures.ts'
import { testAnyRequest } from './fuzz.ts'

async function setUp() {
  const { app, db, close } = await servedSite()
  const fixtures = await addFixtures(db, { site_id: 'demo', client_id: 1 })
  await db.execute(
    `INSERT INTO nodes (site_id, node_id, node_number, name, type, report_s, channels, created_at,
       updated_at)
     VALUES ('demo', '1', 1, 'Node', 'cabinet', 60, '[]', now(), now())`,
  )
  return { app, fixtures, drop: close }
}

testConventions(endpoints, setUp)
testAnyRequest(endpoints, setUp, 500)

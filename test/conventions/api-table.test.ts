import { endpoints } from '../../server/endpoints.ts'
import { servedSite } from '../../server/features/fixtures/served-site.ts'
import { testConventions } from './conventions.ts'
import { addFixtures } from './fixtures.ts'
import { testAnyRequest } from './fuzz.ts'

async function setUp() {
  const { app, db, close } = await servedSite()
  const fixtures = await addFixtures(db, { site_id: 'demo', client_id: 1 })
  return { app, fixtures, drop: close }
}

testConventions(endpoints, setUp)
testAnyRequest(endpoints, setUp, 500)

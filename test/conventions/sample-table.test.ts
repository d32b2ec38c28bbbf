import { testConventions } from './conventions.ts'
import { testAnyRequest } from './fuzz.ts'
import { sampleEndpoints } from './sample-endpoints.ts'
import { sampleServer } from './sample-server.ts'

testConventions(sampleEndpoints, sampleServer)
testAnyRequest(sampleEndpoints, sampleServer, 1000)

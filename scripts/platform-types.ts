/** Types of the answers of the platform, for the pages, from the schemas of its operations. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import { schemaComponents } from '../server/http/openapi-schemas.ts'
import { platformEndpoints } from '../server/platform-endpoints.ts'

export async function platformTypes(): Promise<string> {
  const schemas = schemaComponents()
  for (const { operation_id, returns } of platformEndpoints) {
    if (returns) schemas.refer(returns, `${operation_id}_answer`, 'answer')
  }
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-platform-'))
  try {
    await createClient({
      input: documentOf(schemas.components()) as never,
      logs: { level: 'silent', file: false },
      output: { path: folder, clean: true },
      plugins: ['@hey-api/typescript'],
    })
    return readFileSync(join(folder, 'types.gen.ts'), 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Without texts, which would be comments of the types. */
const documentOf = (schemas: object) => ({
  openapi: '3.1.0',
  info: { title: 'Platform', version: '1' },
  paths: {},
  components: JSON.parse(JSON.stringify({ schemas }), (name, value) =>
    name === 'description' || name === 'examples' ? undefined : value,
  ),
})

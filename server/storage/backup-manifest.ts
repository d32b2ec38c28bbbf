/** The manifest of a backup: all files with their checksums, and the requirements to restore it. */
import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { TableRows } from './row-counts.ts'

const closed = { additionalProperties: false } as const
const Instant = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

export type BackedUpFile = Static<typeof BackedUpFile>
export const BackedUpFile = Type.Object(
  { path: Type.String(), bytes: Type.Integer({ minimum: 0 }), sha256: Sha256 },
  closed,
)

export type Manifest = Static<typeof Manifest>
export const Manifest = Type.Object(
  {
    format: Type.Literal('heliograph-backup-1'),
    postgres_major: Type.Integer(),
    system_identifier: Type.String(),
    /** Applied in the database, oldest first. */
    migrations: Type.Array(Type.String()),
    started_at: Instant,
    /** The backup contains everything committed before. */
    finished_at: Instant,
    start_lsn: Type.String(),
    stop_lsn: Type.String(),
    /** All directories of the cluster. PostgreSQL needs the empty ones too. */
    directories: Type.Array(Type.String()),
    files: Type.Array(BackedUpFile),
    /** Rows of every table; absent in backups of earlier versions. */
    tables: Type.Optional(Type.Array(TableRows)),
  },
  closed,
)

const check = Compile(Manifest)

/** The manifest as text, with its own checksum as the last field. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: sumOf(manifest) }, null, 1)}\n`
}

/** Reads a manifest; throws when it is incomplete, altered or of an unknown format. */
export function readManifest(text: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error('the manifest of the backup is damaged', { cause: error })
  }
  const { sha256, ...manifest } = (value ?? {}) as Record<string, unknown>
  if (sha256 !== sumOf(manifest)) throw new Error('the manifest of the backup is damaged')
  if (!check.Check(manifest)) {
    const [fault] = check.Errors(manifest)
    throw new Error(
      `the backup has a form that this version does not know: ${fault?.instancePath} ${fault?.message}`,
    )
  }
  return manifest
}

const sumOf = (manifest: unknown) =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex')

/** Throws when the files of a backup differ from its manifest. */
export function checkFiles(manifest: Manifest, found: ReadonlyMap<string, BackedUpFile>): void {
  for (const { path, bytes, sha256 } of manifest.files) {
    const file = found.get(path)
    if (!file) throw new Error(`the backup is not whole: ${path} is missing`)
    if (file.bytes !== bytes || file.sha256 !== sha256) {
      throw new Error(`the backup is damaged: ${path} is not what was backed up`)
    }
  }
  const known = new Set(manifest.files.map(({ path }) => path))
  const stranger = [...found.keys()].find((path) => !known.has(path))
  if (stranger !== undefined) throw new Error(`the backup was changed: ${stranger} is new in it`)
}

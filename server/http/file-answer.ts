/** Answers that are a file, or a text of another media type, instead of JSON. */
import { Type } from 'typebox'

interface FileParts {
  bytes: Buffer
  content_type: string
  /** Absent for a text that is written for each request. */
  stored?: StoredFile
}

interface StoredFile {
  /** Letters, digits, `.`, `_` and `-` only, so that the header needs no quoting. */
  file_name: string
  /** Digest of the bytes in 64 hex digits, used as ETag. */
  sha256: string
}

export class FileAnswer {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>

  /** Throws when the file name would need quoting. */
  constructor({ bytes, content_type, stored }: FileParts) {
    this.bytes = bytes
    this.headers = { 'content-type': content_type, ...(stored && headersOf(stored)) }
  }
}

function headersOf({ file_name, sha256 }: StoredFile) {
  if (!/^[\w.-]{1,200}$/.test(file_name)) throw new Error(`not a file name: ${file_name}`)
  return {
    'content-disposition': `attachment; filename="${file_name}"`,
    etag: `"${sha256}"`,
  }
}

/** The `returns` of an endpoint with `file_types`. */
export const FileBytes = Type.Unsafe<FileAnswer>({ description: 'The bytes of the file.' })

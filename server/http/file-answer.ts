/** Answers that are a file: bytes as they are stored, and not JSON. */
import { Type } from 'typebox'

interface FileParts {
  bytes: Buffer
  content_type: string
  /** Letters, digits, `.`, `_` and `-`, so that it stands in a header as it is. */
  file_name: string
  /** Of the bytes, 64 hexadecimal digits: the ETag. */
  sha256: string
}

export class FileAnswer {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>

  /** Throws where the name would have to be quoted. */
  constructor({ bytes, content_type, file_name, sha256 }: FileParts) {
    if (!/^[\w.-]{1,200}$/.test(file_name)) throw new Error(`no name of a file: ${file_name}`)
    this.bytes = bytes
    this.headers = {
      'content-type': content_type,
      'content-disposition': `attachment; filename="${file_name}"`,
      etag: `"${sha256}"`,
    }
  }
}

/** What an endpoint with `file_types` returns. */
export const FileBytes = Type.Unsafe<FileAnswer>({ description: 'The bytes of the file.' })

/**
 * An answer that is already JSON, written by PostgreSQL or a store: parsing it to write it again
 * would dominate the cost of a read. Strict answer checks parse it and check its schema.
 */
export class JsonText {
  /** UTF-8 bytes for large texts: a string of megabytes is copied three times when it is sent. */
  readonly text: string | Buffer
  constructor(text: string | Buffer) {
    this.text = text
  }
}

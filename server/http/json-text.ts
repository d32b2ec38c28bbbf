/**
 * An answer that is already JSON: PostgreSQL or a store wrote the text, and parsing it again only
 * to write it once more would cost more than all else. Tests parse it and check it against the
 * schema of its endpoint, as they do every answer.
 */
export class JsonText {
  /** Large texts are bytes, UTF-8: a string of megabytes is copied three times on its way out. */
  readonly text: string | Buffer
  constructor(text: string | Buffer) {
    this.text = text
  }
}

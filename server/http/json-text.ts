/**
 * An answer that is already JSON: PostgreSQL or a store wrote the text, and parsing it again only
 * to write it once more would cost more than all else. Tests parse it and check it against the
 * schema of its endpoint, as they do every answer.
 */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

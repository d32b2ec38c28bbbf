/** Polls one device as the edge's loop does: it gives it up, looks for it again, meets it anew. */

interface ContactNeeds<Contact, Of> {
  open(): Contact
  /** null: no answer. */
  read(): Promise<Of | null>
  onRead(contact: Contact, read: Of): void
  onGone(): void
  onFault(error: Error): void
}

const misses_max = 3
const rest_polls_max = 1

export class ContactPolls<Contact, Of> {
  readonly #needs: ContactNeeds<Contact, Of>
  #contact: Contact | null = null
  #is_busy = false
  #is_gone = false
  #misses = 0
  #polls_to_rest = 0

  constructor(needs: ContactNeeds<Contact, Of>) {
    this.#needs = needs
  }

  poll(): void {
    if (this.#is_busy) return
    if (this.#polls_to_rest > 0) {
      this.#polls_to_rest -= 1
      return
    }
    this.#is_busy = true
    this.#read()
      .catch((error: unknown) => this.#needs.onFault(error as Error))
      .finally(() => {
        this.#is_busy = false
      })
  }

  async #read(): Promise<void> {
    const read = await this.#needs.read()
    if (read === null) return this.#miss()
    this.#misses = 0
    this.#is_gone = false
    this.#contact ??= this.#needs.open()
    this.#needs.onRead(this.#contact, read)
  }

  #miss(): void {
    this.#misses += 1
    const beyond = this.#misses - misses_max
    if (beyond < 0) return
    this.#contact = null
    this.#polls_to_rest = Math.min(2 ** beyond, rest_polls_max)
    if (this.#is_gone) return
    this.#is_gone = true
    this.#needs.onGone()
  }
}

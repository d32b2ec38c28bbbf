import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { readCursor } from '../../http/cursor.ts'
import { pageOfSites, type SitesPage, siteOrders } from './pages.ts'

const sites = fc
  .uniqueArray(
    fc.record({
      site_id: fc.string({ minLength: 1 }),
      name: fc.constantFrom('A', 'a', 'A 9', 'A 10'),
    }),
    { selector: ({ site_id }) => site_id },
  )
  .map((all) => all.toSorted((a, b) => (a.site_id < b.site_id ? -1 : 1)))

test('the pages of any order hold each site once, as one large page does', () => {
  fc.assert(
    fc.property(
      sites,
      fc.constantFrom(...siteOrders),
      fc.integer({ min: 1, max: 4 }),
      (all, sort, limit) => {
        const whole = pageOfSites(all, { sort, after: null }).page.rows
        const walked = []
        let after: SitesPage['after'] = null
        do {
          const { page, matching }: ReturnType<typeof pageOfSites> = pageOfSites(all, {
            sort,
            limit,
            after,
          })
          assert.equal(matching.length, all.length)
          assert.ok(page.rows.length <= limit)
          walked.push(...page.rows)
          after =
            page.next_cursor === null ? null : (readCursor(page.next_cursor) as SitesPage['after'])
        } while (after)
        assert.deepEqual(walked, whole)
        assert.equal(whole.length, all.length)
      },
    ),
  )
})

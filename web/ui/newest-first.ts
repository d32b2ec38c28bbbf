export interface Part {
  offset: number
  limit: number
}

export interface Answer<Item> {
  data: Item[]
  meta: { count: number }
}

/**
 * Reads a page with the newest item first, of a list that the API returns with the oldest first:
 * the first page is the end of the list.
 */
export async function readNewestFirst<Item>(
  read: (part: Part) => Promise<Answer<Item>>,
  { page, limit }: { page: number; limit: number },
): Promise<{ data: Item[]; count: number }> {
  const { meta } = await read({ offset: 0, limit: 1 })
  const end = meta.count - (page - 1) * limit
  if (end <= 0) return { data: [], count: meta.count }
  const offset = Math.max(0, end - limit)
  const answer = await read({ offset, limit: end - offset })
  return { data: answer.data.toReversed(), count: answer.meta.count }
}

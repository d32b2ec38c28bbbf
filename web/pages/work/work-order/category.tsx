import { Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { heliograph } from '../../../api.ts'

interface CategoryProps {
  site_id: string
  value?: string | null
  onChange?: (value: string | null) => void
  error?: string
}

/** An inspection, whose checklist the order gets. */
export function Category({ site_id, value = null, onChange, error }: CategoryProps) {
  const { data } = useQuery({
    queryKey: ['om-categories', site_id],
    queryFn: ({ signal }) => heliograph.omCategoriesList({ site_id }, { signal }),
    staleTime: 600_000,
  })
  const categories = (data?.data ?? []).filter(({ is_active }) => is_active)
  const chosen = categories.find(({ category_id }) => String(category_id) === value)
  return (
    <div>
      <Select
        label="Checklist"
        placeholder="None"
        clearable
        searchable
        clearButtonProps={{ 'aria-label': 'No checklist' }}
        data={categories.map(({ category_id, name, standard_reference }) => ({
          value: String(category_id),
          label: standard_reference ? `${name} (${standard_reference})` : name,
        }))}
        {...{ value, onChange, error }}
      />
      {chosen && (
        <Text size="sm" mt={4}>
          {chosen.default_checklist.length} items. {chosen.description}
        </Text>
      )}
    </div>
  )
}
